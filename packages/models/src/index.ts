export * as ModelProvider from "./ModelProvider.ts"
export * as ModelRegistry from "./ModelRegistry.ts"
export * as OfflineModel from "./OfflineModel.ts"
