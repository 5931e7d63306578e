export * as ScriptedModel from "./ScriptedModel.ts"
