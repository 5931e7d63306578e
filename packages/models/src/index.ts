export * as OfflineEmbedding from "./OfflineEmbedding.ts"
export * as OfflineModel from "./OfflineModel.ts"
