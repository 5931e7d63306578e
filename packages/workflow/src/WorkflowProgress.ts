/**
 * How far a run is: what its events have told so far, as a tree of nodes. Plain data,
 * for whoever shows it: at a terminal, on a page, in a log.
 *
 * @example
 * ```ts
 * import { Node, Workflow, WorkflowProgress } from "@heddle/workflow"
 * import { Clock, Effect, Stream } from "effect"
 *
 * const workflow = Workflow.make({
 *   name: "greeting",
 *   node: Node.sequence(
 *     Node.step("trim", (name: string) => name.trim()),
 *     Node.step("greet", (name: string) => `Hello, ${name}!`)
 *   )
 * })
 *
 * const program = Workflow.stream(workflow, " Ada ").pipe(
 *   Stream.mapEffect((event) => Effect.map(Clock.currentTimeMillis, (now) => [event, now] as const)),
 *   Stream.runFold(WorkflowProgress.empty, (progress, [event, now]) => WorkflowProgress.update(progress, event, now))
 * )
 * const progress = await Effect.runPromise(program)
 * console.log(progress.map((branch) => `${branch.path.join("/")}: ${branch._tag === "Node" && branch.status}`))
 * ```
 * ```text
 * [ 'trim: done', 'greet: done' ]
 * ```
 */
import type { Message } from "@heddle/core"
import { describe } from "./internal/describe.ts"
import type { NodeKind, Path, WorkflowEvent } from "./WorkflowEvent.ts"

/** The nodes on the outermost level that have started, in the order in which they did. */
export type WorkflowProgress = ReadonlyArray<Branch>

/** A node that has started, or what stands for a round of a loop or an element of an array. */
export type Branch = NodeBranch | NumberedBranch

/** A node that has started. */
export interface NodeBranch {
  readonly _tag: "Node"
  readonly path: Path
  readonly kind: NodeKind
  readonly status: Status
  /** In milliseconds since the epoch, or since whatever `update` was told. */
  readonly startedAt: number
  /** Missing while it runs. */
  readonly endedAt?: number
  /** What it has chosen, or what went wrong; `""` for nothing. */
  readonly note: string
  /** The calls of tools of an agent, in the order in which they began. */
  readonly calls: ReadonlyArray<ToolCall>
  /** What has started inside of it. */
  readonly inside: WorkflowProgress
}

/** A round of a loop, or an element of an array: the last of its path is a number. */
export interface NumberedBranch {
  readonly _tag: "Round" | "Element"
  readonly path: Path
  readonly inside: WorkflowProgress
}

/** How a node is. One that is `skipped` has failed, and has passed its input on. */
export type Status = "running" | "retrying" | "done" | "skipped" | "failed" | "cancelled"

/** A call of a tool. */
export interface ToolCall {
  readonly id: string
  /** The call of the model that asked for it, from 1. */
  readonly step: number
  readonly name: string
  readonly arguments: unknown
  /** `Pending` while it runs. */
  readonly outcome: Message.ToolOutcome["_tag"]
}

/** Nothing has started. */
export const empty: WorkflowProgress = []

/** The branch of a path, if it has begun. */
export const at = (self: WorkflowProgress, path: Path): Branch | undefined => {
  let branch: Branch | undefined
  for (const name of path) {
    branch = (branch?.inside ?? self).find((inner) => inner.path.at(-1) === name)
    if (branch === undefined) return undefined
  }
  return branch
}

/** What is known after an event. The same value when the event changes nothing. */
export const update = (self: WorkflowProgress, event: WorkflowEvent, now: number): WorkflowProgress => {
  switch (event._tag) {
    case "NodeStarted": {
      const { kind, path } = event
      const node: NodeBranch = {
        _tag: "Node",
        path,
        kind,
        status: "running",
        startedAt: now,
        note: "",
        calls: [],
        inside: empty
      }
      return put(self, node, 0, undefined)
    }
    case "NodeFinished":
      return change(self, event.path, ({ status }) => ({
        status: status === "skipped" ? status : "done",
        endedAt: now
      }))
    case "NodeFailed":
      return change(self, event.path, () => ({ status: "failed", endedAt: now, note: describe(event.error) }))
    case "NodeCancelled":
      return change(self, event.path, () => ({ status: "cancelled", endedAt: now }))
    case "NodeRetrying": {
      const note = `attempt ${event.attempt} after: ${describe(event.error)}`
      return change(self, event.path, () => ({ status: "retrying", note, calls: [], inside: empty }))
    }
    case "NodeSkipped":
      return change(self, event.path, () => ({ status: "skipped", note: describe(event.error) }))
    case "NodeFellBack":
      return change(self, event.path, () => ({ note: `fallback after: ${describe(event.error)}` }))
    case "Chosen":
      return change(self, event.path, () => ({ note: `→ ${event.choice}` }))
    case "Agent":
      return change(self, event.path, ({ calls }) => {
        const after = toolCalls(calls, event.event)
        return after === calls ? undefined : { calls: after }
      })
    case "Completed":
    case "Failed":
    case "Cancelled":
      // Whoever stops looking is not told how the nodes end.
      return ended(self, now)
    case "RunStarted":
    case "Warning":
      return self
  }
}

/** Puts a node where its path says, in the place of the one that is there. `depth`: how much of the path leads to `self`. */
const put = (self: WorkflowProgress, node: NodeBranch, depth: number, around: Branch | undefined): WorkflowProgress => {
  const name = node.path[depth]
  const index = self.findLastIndex((branch) => branch.path.at(-1) === name)
  const known = self[index]
  if (depth === node.path.length - 1) return known === undefined ? [...self, node] : self.with(index, node)
  const outer = known ?? numbered(node.path.slice(0, depth + 1), around)
  const branch: Branch = { ...outer, inside: put(outer.inside, node, depth + 1, outer) }
  return known === undefined ? [...self, branch] : self.with(index, branch)
}

/** What stands around a node and is told by no event of its own. */
const numbered = (path: Path, around: Branch | undefined): NumberedBranch => ({
  _tag: around?._tag === "Node" && around.kind === "each" ? "Element" : "Round",
  path,
  inside: empty
})

/** Changes the node of a path; `undefined` leaves it as it is, and a path that nobody knows changes nothing. */
const change = (
  self: WorkflowProgress,
  path: Path,
  f: (node: NodeBranch) => Partial<NodeBranch> | undefined,
  depth = 0
): WorkflowProgress => {
  const index = self.findLastIndex((branch) => branch.path.at(-1) === path[depth])
  const branch = self[index]
  if (branch === undefined) return self
  if (depth < path.length - 1) {
    const inside = change(branch.inside, path, f, depth + 1)
    return inside === branch.inside ? self : self.with(index, { ...branch, inside })
  }
  const changes = branch._tag === "Node" ? f(branch) : undefined
  // The numbers of rounds and elements have nothing that changes.
  return changes === undefined ? self : self.with(index, { ...branch, ...changes } as Branch)
}

const ended = (self: WorkflowProgress, now: number): WorkflowProgress =>
  self.map((branch): Branch => {
    const inside = ended(branch.inside, now)
    if (branch._tag !== "Node" || (branch.status !== "running" && branch.status !== "retrying")) {
      return { ...branch, inside }
    }
    return { ...branch, status: "cancelled", endedAt: now, inside }
  })

const toolCalls = (
  calls: ReadonlyArray<ToolCall>,
  event: Extract<WorkflowEvent, { readonly _tag: "Agent" }>["event"]
): ReadonlyArray<ToolCall> => {
  switch (event._tag) {
    case "ToolStarted": {
      const { arguments: args, id, name, step } = event
      return [...calls, { id, step, name, arguments: args, outcome: "Pending" }]
    }
    case "ToolFinished": {
      const { id, outcome, step } = event
      return calls.map((call) => (call.id === id && call.step === step ? { ...call, outcome: outcome._tag } : call))
    }
    case "StepReset":
      return calls.some((call) => call.step === event.step) ? calls.filter((call) => call.step !== event.step) : calls
    case "Reset":
      return calls.length === 0 ? calls : []
    default:
      return calls
  }
}
