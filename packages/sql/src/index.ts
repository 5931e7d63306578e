export * as SqlConversations from "./SqlConversations.ts"
