export * as HistoryFormat from "./HistoryFormat.ts"
export * as HistoryStore from "./HistoryStore.ts"
export * as RunRecord from "./RunRecord.ts"
export * as WorkflowErrors from "./WorkflowErrors.ts"
