export * as Arbitraries from "./Arbitraries.ts"
export * as Law from "./Law.ts"
export * as Rules from "./Rules.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
