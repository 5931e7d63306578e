export * as Arbitraries from "./Arbitraries.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
