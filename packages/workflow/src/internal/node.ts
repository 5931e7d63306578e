/**
 * What a node is made of, and how it is entered: counted, told of, and with the
 * history that its policy shows.
 */
import { Errors } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import type { NodeKind, Path, WorkflowEvent } from "../WorkflowEvent.ts"
import { type CheckedPolicy, CurrentHistory, type Effective, isEqual, resolve, shows } from "./history.ts"
import type { Noted, Place } from "./run.ts"

/** What a runner gives: errors and needs are in the public types. */
export type Running = Effect.Effect<unknown, unknown, unknown>

/** Runs a node. To be called where its result is awaited, never ahead of time. */
export type Runner = (input: unknown, at: Place) => Running

/** What is known when a node is compiled. */
export interface Env {
  /** What the node is called. */
  readonly name: string
  /** The history policy in force. */
  readonly history: Effective
  /** Collects the policies that show runs to a function or an agent. */
  readonly wanted: Array<Effective>
}

/** A node inside of another. */
export interface Child {
  /** What it is to the other: the name of a branch or a route, `true`, `false`, `fallback`. */
  readonly role?: string
  /** Runs when the other fails. Its role would not tell: a branch may be called "fallback", too. */
  readonly isFallback?: boolean
  readonly node: NodeImpl
}

/** A node without its types. */
export interface NodeImpl extends Pipeable {
  /** Sequences may have none: they are then not told of. */
  readonly name: string | undefined
  readonly kind: NodeKind
  readonly children: ReadonlyArray<Child>
  /** What else there is to it, as a diagram says it. */
  readonly marks: ReadonlyArray<string>
  readonly policy: CheckedPolicy | undefined
  /** Makes the runner of what is inside of the node. */
  readonly compile: (env: Env) => Runner
}

export const TypeId: unique symbol = Symbol.for("@heddle/workflow/Node")

const NodeProto = {
  [TypeId]: { _In: (_: never) => _, _Out: (_: never) => _, _E: (_: never) => _, _R: (_: never) => _ },
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Makes a node. */
export const makeNode = <Extra extends object = object>(
  fields: Pick<NodeImpl, "kind" | "compile"> & Partial<Omit<NodeImpl, "pipe">> & Extra
): NodeImpl & Extra =>
  Object.assign(Object.create(NodeProto), { name: undefined, children: [], marks: [], policy: undefined, ...fields })

/** Does something around a node, inside of where it is entered. A sequence without a name gets one, since there is now something to tell of it. */
export const around = (
  node: NodeImpl,
  mark: string,
  wrap: (runner: Runner, env: Env) => Runner,
  children: ReadonlyArray<Child> = []
): NodeImpl =>
  makeNode({
    ...node,
    name: label(node),
    marks: [...node.marks, mark],
    children: [...node.children, ...children],
    compile: (env) => wrap(node.compile(env), env)
  })

/** What a node is called in errors: a sequence without a name is told by what is in it. */
export const label = (node: NodeImpl): string =>
  node.name ?? (node.children.length > 0 ? node.children.map((child) => label(child.node)).join(" → ") : node.kind)

/** Whether a value is a node. */
export const isNodeImpl = (u: unknown): u is NodeImpl => typeof u === "object" && u !== null && TypeId in u

/** Refuses a workflow in which a name occurs twice. What is inside of a workflow in it has names of its own. */
export const refuseDuplicates = (workflow: string, root: NodeImpl): void => {
  const places = new Map<string, string>()
  const visit = (node: NodeImpl, outer: string) => {
    const place = node.name === undefined ? outer : `${outer} > ${node.name}`
    if (node.name !== undefined) {
      const other = places.get(node.name)
      if (other !== undefined) {
        throw new Errors.DefinitionError(
          `Workflow "${workflow}" has two nodes named "${node.name}": ${other} and ${place}. Node.withName gives one of them another name.`
        )
      }
      places.set(node.name, place)
    }
    for (const child of node.kind === "workflow" ? [] : node.children) visit(child.node, place)
  }
  visit(root, workflow)
}

/** Compiles a node to what runs it, from the outside. */
export const compile = (node: NodeImpl, { history: outer, wanted }: Env): Runner => {
  const resolved = resolve(outer, node.policy)
  // Equal policies are one, so that runs are written down once for all of them.
  const history = [outer, ...wanted].find((other) => isEqual(resolved, other)) ?? resolved
  // Where runs are shown to somebody: all but the nodes that only hold others.
  const isHolder = node.kind === "sequence" || node.kind === "parallel" || node.kind === "workflow"
  if (shows(history) && !isHolder && !wanted.includes(history)) wanted.push(history)
  const runner = entered(node, node.compile({ name: label(node), history, wanted }))
  return history !== outer && (shows(history) || shows(outer)) ? seeing(runner, history) : runner
}

/** Shows earlier runs to what is inside. A context is dear to change, so this is done where the policy changes and nowhere else. */
export const seeing =
  (runner: Runner, history: Effective): Runner =>
  (input, at) => {
    const running = runner(input, at)
    // What is done already has read nothing.
    return Exit.isExit(running) ? running : Effect.provideService(running, CurrentHistory, at.run.shown(history))
  }

/** Enters a node: counts it, notes what it gives, and tells of it. A sequence without a name is nobody's business. */
const entered = (node: NodeImpl, runner: Runner): Runner => {
  const { kind, name } = node
  if (name === undefined) return runner
  const isStep = kind === "step" || kind === "agent"
  return (input, outer) => {
    const { run } = outer
    const stopped = run.enter()
    if (stopped !== undefined) return stopped
    if (!outer.watched) return runner(input, outer)
    const at = outer.within(name)
    const noted = isStep ? at.note() : undefined
    const going = Effect.suspend(() => runner(input, at))
    if (!run.live) return noted === undefined ? going : noting(going, noted)
    const { path } = at
    const running = Effect.onExit(going, (exit) => {
      if (noted !== undefined) noted.exit = exit
      return run.tell(ending(path, exit))
    })
    return Effect.zipRight(run.tell({ _tag: "NodeStarted", path, kind, input }), running)
  }
}

/** Notes how a step ended; of one that was interrupted it notes nothing, which says so. A quarter of the cost of `onExit`. */
const noting = (running: Running, noted: Noted): Running =>
  Effect.matchCauseEffect(running, {
    onFailure: (cause) => (noted.exit = Exit.failCause(cause)),
    onSuccess: (value) => (noted.exit = Exit.succeed(value))
  })

const ending = (path: Path, exit: Exit.Exit<unknown, unknown>): WorkflowEvent => {
  if (Exit.isSuccess(exit)) return { _tag: "NodeFinished", path, output: exit.value }
  const { cause } = exit
  return Cause.isInterruptedOnly(cause)
    ? { _tag: "NodeCancelled", path }
    : { _tag: "NodeFailed", path, error: Cause.squash(cause), cause }
}
