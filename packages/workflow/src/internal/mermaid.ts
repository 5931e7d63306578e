/** Draws a workflow. */
import type { Effective } from "./history.ts"
import type { NodeImpl } from "./node.ts"

export const mermaid = (workflow: NodeImpl, _around: Effective): string => `flowchart TD\n  ${workflow.name}`
