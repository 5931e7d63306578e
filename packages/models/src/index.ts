export * as OfflineModel from "./OfflineModel.ts"
export * as ToolProvider from "./ToolProvider.ts"
