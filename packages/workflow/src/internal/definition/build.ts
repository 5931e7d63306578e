/**
 * Makes a workflow of a definition that has nothing wrong with it, with the
 * constructors that everybody uses.
 */
import type { Agent, Call } from "@heddle/core"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import type * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Node from "../../Node.ts"
import * as Workflow from "../../Workflow.ts"
import type { ExpressionFailed } from "../../WorkflowErrors.ts"
import { makeNode } from "../node.ts"
import { impl, typed } from "../nodeType.ts"
import type { Compile } from "./check.ts"
import type { Beside, DurationData, NodeDefinition, RetryData, WorkflowDefinition } from "./data.ts"
import { nameOf } from "./value.ts"
import { asText, evaluate, type Gives, notAnArray } from "./expression.ts"

/** What a definition can name. */
export interface Parts {
  readonly agents: Readonly<Record<string, Agent.Any>>
  readonly functions: Readonly<Record<string, (input: unknown) => unknown>>
  readonly compile: Compile
  /** Options of runs, by the node that has them. */
  readonly options: ReadonlyMap<unknown, Agent.CallOptions>
}

type AnyNode = Node.Node<unknown, unknown, unknown, unknown>
type AnyWorkflow = Workflow.Workflow<unknown, unknown, unknown, unknown>

interface Builder extends Parts {
  readonly workflows: NonNullable<WorkflowDefinition["workflows"]>
  /** The workflow of a name: one, however often it is referred to. */
  readonly workflow: (name: string) => AnyWorkflow
}

/** Makes a workflow of a definition. */
export const build = (definition: WorkflowDefinition, parts: Parts): AnyWorkflow => {
  const { history, maxNodes, name, node, onHistoryUnavailable, workflows = {} } = definition
  const made = new Map<string, AnyWorkflow>()
  const workflow = (name: string): AnyWorkflow => {
    const known = made.get(name)
    if (known !== undefined) return known
    const { history, name: called = name, node } = workflows[name]!
    const workflow = Workflow.make({ name: called, node: buildNode(node, builder), ...(history && { history }) })
    made.set(name, workflow)
    return workflow
  }
  const builder: Builder = { ...parts, workflows, workflow }
  return Workflow.make({
    name,
    node: buildNode(node, builder),
    ...(history && { history }),
    ...(maxNodes !== undefined && { maxNodes }),
    ...(onHistoryUnavailable && { onHistoryUnavailable })
  })
}

const buildNode = (node: NodeDefinition, builder: Builder): AnyNode => {
  const { history, onError = "fail", retry, timeout } = node
  let built = withoutAround(node, builder)
  if (timeout !== undefined) built = Node.timeout(built, durationOf(timeout))
  if (retry !== undefined) built = Node.retry(built, retryOptions(retry))
  if (onError === "skip") built = Node.orSkip(built)
  else if (onError !== "fail") built = Node.orElse(built, buildNode(onError.fallback, builder))
  return history === undefined ? built : Node.withHistory(built, history)
}

const withoutAround = (node: NodeDefinition, builder: Builder): AnyNode => {
  const { agents, compile, functions, options, workflow, workflows } = builder
  const child = (node: NodeDefinition) => buildNode(node, builder)
  const children = (record: Readonly<Record<string, NodeDefinition>>) =>
    Object.fromEntries(Object.entries(record).map(([name, node]) => [name, child(node)]))

  /** An expression as a function of a node. */
  const asking = <Out>(text: string, gives: Gives, name: string, hasRound = false) => {
    const expression = Either.getOrThrow(compile(text, gives, hasRound))
    return (value: unknown, round?: number) =>
      // It gives what `gives` says, or fails.
      evaluate(expression, name, { value, ...(round !== undefined && { round }) }) as Effect.Effect<
        Out,
        ExpressionFailed
      >
  }

  switch (node.type) {
    case "agent": {
      const { agent, name, prompt } = node
      const ask: (input: unknown) => Node.OrEffect<string> =
        prompt === undefined ? (input) => asText(name, input) : asking<string>(prompt, "string", name)
      const run = options.get(node)
      return Node.agent(name, agents[agent]!, { prompt: ask, ...(run !== undefined && { run }) })
    }
    case "step":
      return Node.step(node.name, functions[node.function]!)
    case "sequence": {
      // One node or many: what each takes and gives is `unknown`, so that one stands for all.
      const sequence = Node.sequence(...(node.nodes.map(child) as [AnyNode]))
      const name = nameOf(node, workflows)
      return name === undefined ? sequence : Node.withName(sequence, name)
    }
    case "condition": {
      const { else: no, if: holds, name, then } = node
      const options = { if: asking<boolean>(holds, "bool", name), onTrue: child(then) }
      return no === undefined ? Node.condition(name, options) : Node.condition(name, { ...options, onFalse: child(no) })
    }
    case "loop": {
      const { body, max, name, onMax = "fail", until, while: goesOn } = node
      return Node.loop(name, child(body), {
        max,
        onMax,
        ...(goesOn !== undefined && { while: asking<boolean>(goesOn, "bool", name, true) }),
        ...(until !== undefined && { until: asking<boolean>(until, "bool", name, true) })
      })
    }
    case "parallel":
      return Node.parallel(node.name, children(node.branches), besideOptions(node))
    case "each":
      return overAnything(node.name, Node.each(node.name, child(node.body), besideOptions(node)))
    case "router":
      return Node.router(node.name, {
        choose: asking<string>(node.choose, "string", node.name),
        routes: children(node.routes)
      })
    case "workflow": {
      const referred = workflow(node.workflow)
      return node.name === undefined ? referred : Node.withName(referred, node.name)
    }
  }
}

/** No type says what comes from before, so that what is no array is a failure here, with which a definition can deal. */
const overAnything = <Out, E, R>(name: string, each: Node.Node<ReadonlyArray<unknown>, Out, E, R>): AnyNode => {
  const node = impl(each)
  return typed(
    makeNode({
      ...node,
      compile: (env) => {
        const runner = node.compile(env)
        return (input, at) => (Array.isArray(input) ? runner(input, at) : notAnArray(name, input))
      }
    })
  )
}

const besideOptions = ({ concurrency, settlement = "fail-fast" }: Beside) => ({
  settlement,
  ...(concurrency !== undefined && { concurrency })
})

// The Schema has seen to it that a text is one that Effect reads.
const durationOf = (data: DurationData) => Duration.decode(data as Duration.DurationInput)

const retryOptions = ({ delay, factor = 1, maxDelay, times = 3 }: RetryData): Call.RetryOptions<unknown, never> => {
  if (delay === undefined) return { times }
  const growing = Schedule.exponential(durationOf(delay), factor)
  if (maxDelay === undefined) return { times, schedule: growing }
  const longest = durationOf(maxDelay)
  return { times, schedule: Schedule.modifyDelay(growing, (_, delay) => Duration.min(delay, longest)) }
}
