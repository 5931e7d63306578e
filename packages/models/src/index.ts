export * as ModelProvider from "./ModelProvider.ts"
export * as OfflineModel from "./OfflineModel.ts"
