/**
 * What a definition looks like, as types.
 */
import type { HistoryFormat } from "../../HistoryFormat.ts"
import type { HistoryPolicy } from "../../HistoryPolicy.ts"
import type { Settlement } from "../../Node.ts"

/** Milliseconds, or such as `"30 seconds"`. */
export type DurationData = string | number

/** How much of earlier runs is seen: a `HistoryPolicy` without functions. */
export interface HistoryData extends Omit<HistoryPolicy, "format"> {
  readonly format?: Partial<HistoryFormat>
}

/** When a node is run again. */
export interface RetryData {
  /** Attempts after the first. @default 3 */
  readonly times?: number
  /** Before the second attempt. @default none */
  readonly delay?: DurationData
  /** How many times as long as the one before each further delay is. @default 1 */
  readonly factor?: number
  readonly maxDelay?: DurationData
}

/** What every node may have. */
export interface Around {
  /** Of each attempt. */
  readonly timeout?: DurationData
  readonly retry?: RetryData
  /** After the last attempt. @default "fail" */
  readonly onError?: "fail" | "skip" | { readonly fallback: NodeDefinition }
  /** For the node, what is inside of it, and its fallback. */
  readonly history?: HistoryData
}

/** How branches run beside each other. */
export interface Beside {
  /** @default "fail-fast" */
  readonly settlement?: Settlement
  readonly concurrency?: number
}

/** A node. An expression is CEL over `value`, the node's input. */
export type NodeDefinition = Around &
  (
    | {
        readonly type: "agent"
        readonly name: string
        /** The name of an agent of the registry. */
        readonly agent: string
        /** An expression for what it is asked. Without, a string goes as it is, and anything else as JSON. */
        readonly prompt?: string
        /** Options of the run, as `agentOptions` of the registry reads them. */
        readonly options?: Readonly<Record<string, unknown>>
      }
    | {
        readonly type: "step"
        readonly name: string
        /** The name of a function of the registry. */
        readonly function: string
      }
    | { readonly type: "sequence"; readonly name?: string; readonly nodes: ReadonlyArray<NodeDefinition> }
    | {
        readonly type: "condition"
        readonly name: string
        readonly if: string
        readonly then: NodeDefinition
        readonly else?: NodeDefinition
      }
    | {
        readonly type: "loop"
        readonly name: string
        readonly body: NodeDefinition
        /** Expressions that also see `round`, the rounds done. */
        readonly while?: string
        readonly until?: string
        readonly max: number
        /** @default "fail" */
        readonly onMax?: "fail" | "stop"
      }
    | ({
        readonly type: "parallel"
        readonly name: string
        readonly branches: Readonly<Record<string, NodeDefinition>>
      } & Beside)
    | ({ readonly type: "each"; readonly name: string; readonly body: NodeDefinition } & Beside)
    | {
        readonly type: "router"
        readonly name: string
        /** An expression for the name of the route. */
        readonly choose: string
        readonly routes: Readonly<Record<string, NodeDefinition>>
      }
    | {
        readonly type: "workflow"
        /** The name of one of the document's `workflows`. */
        readonly workflow: string
        /** @default the name of that workflow */
        readonly name?: string
      }
  )

/** A workflow as plain data. */
export interface WorkflowDefinition {
  readonly name: string
  readonly node: NodeDefinition
  readonly history?: HistoryData
  /** @default 10,000 */
  readonly maxNodes?: number
  /** @default "fail" */
  readonly onHistoryUnavailable?: "fail" | "continue"
  /** What nodes of the type `workflow` refer to, by name: those in `node`, and those in each other. */
  readonly workflows?: Readonly<Record<string, InnerDefinition>>
}

/** A workflow that stands in others. */
export interface InnerDefinition {
  /** @default the name by which it is referred to */
  readonly name?: string
  readonly node: NodeDefinition
  readonly history?: HistoryData
}
