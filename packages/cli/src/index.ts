export * as AgentFile from "./AgentFile.ts"
export * as Cli from "./Cli.ts"
export * as HandlerRegistry from "./HandlerRegistry.ts"
