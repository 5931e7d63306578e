export * as OfflineModel from "./OfflineModel.ts"
