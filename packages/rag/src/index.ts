export * as DocumentIndex from "./DocumentIndex.ts"
export * as RagErrors from "./RagErrors.ts"
export * as RagSettings from "./RagSettings.ts"
export * as Retriever from "./Retriever.ts"
