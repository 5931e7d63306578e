export * as DatabaseError from "./DatabaseError.ts"
export * as SqlConversations from "./SqlConversations.ts"
export * as SqlHistoryStore from "./SqlHistoryStore.ts"
export * as SqlRetriever from "./SqlRetriever.ts"
