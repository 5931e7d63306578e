/**
 * Case G: workflows. Ten function steps one after the other; the same in a session
 * whose last five runs each step reads as text; eight branches beside each other.
 *
 * The steps are the same functions for all: each gives an Effect, or for the bare
 * loop in JavaScript a value. With history, the bare loops write five records from
 * an array down once a run, and add one with the outputs of the steps at the end,
 * as the workflow does; they neither escape nor copy, and have no ids and times.
 */
import { HistoryContext, HistoryStore, Node, Workflow } from "@heddle/workflow"
import { Effect, ManagedRuntime, Runtime } from "effect"
import { assert, type Competitor, measure, type Result, type Subject } from "./measure.ts"

const steps = Array.from({ length: 10 }, (_, i) => i + 1)
const total = steps.reduce((sum, n) => sum + n, 0)
const shown = 5

type Start = () => Promise<number>

const competitor = (name: string, subject: Subject, start: Start, expected: number): Competitor => ({
  case: name,
  subject,
  unit: "µs",
  run: async (times) => {
    for (let i = 0; i < times; i++) assert((await start()) === expected, `${subject} gets it right in ${name}`)
  }
})

const add = (n: number) => (value: number) => Effect.sync(() => value + n)

const inARow = (nodes: ReadonlyArray<Node.Node<number, number>>) => nodes.reduce((all, node) => Node.andThen(all, node))

// -----------------------------------------------------------------------------
// ten steps
// -----------------------------------------------------------------------------

const sequential = Workflow.make({ name: "sequential", node: inARow(steps.map((n) => Node.step(`add ${n}`, add(n)))) })

const runPromise = Runtime.runPromise(Runtime.defaultRuntime)

const heddleSequential: Start = () => runPromise(Effect.map(Workflow.run(sequential, 0), ({ output }) => output))

const effectSequential = (): Start => {
  const fs = steps.map(add)
  return () =>
    runPromise(
      Effect.gen(function* () {
        let value = 0
        for (const f of fs) value = yield* f(value)
        return value
      })
    )
}

const javascriptSequential = (): Start => {
  const fs = steps.map((n) => (value: number) => value + n)
  return async () => {
    let value = 0
    for (const f of fs) value = await f(value)
    return value
  }
}

// -----------------------------------------------------------------------------
// ten steps that read the last five runs
// -----------------------------------------------------------------------------

const first = "<workflow_history_context>\n[run-1]\n"
/** 1 where the text tells of earlier runs. */
const read = (text: string) => (text.startsWith(first) ? 1 : 0)

const reading = inARow(
  steps.map((n) =>
    Node.step(`add ${n}`, (value: number) => Effect.map(HistoryContext.current, ({ text }) => value + n + read(text)))
  )
)
const withHistory = Workflow.make({ name: "history", node: reading, history: { mode: "on", runs: shown } })
const recorded = Workflow.make({ name: "recorded", node: reading })
/** One step more, which sees the runs; those that are counted do not. */
const elsewhere = Workflow.make({
  name: "elsewhere",
  node: Node.andThen(
    Node.withHistory(
      Node.step("sees", (n: number) => n),
      { mode: "on", runs: shown }
    ),
    reading
  )
})

/** Runs in a session that has as many runs as are shown. */
const heddleSession = async (workflow: typeof recorded | typeof withHistory | typeof elsewhere): Promise<Start> => {
  const run = Runtime.runPromise(await ManagedRuntime.make(HistoryStore.layerMemory({ maxRuns: shown })).runtime())
  const start = () => run(Effect.map(Workflow.run(workflow, 0, { sessionId: "bench" }), ({ output }) => output))
  for (let i = 0; i < shown; i++) await start()
  return start
}

interface Kept {
  readonly input: number
  readonly output: number
  readonly steps: ReadonlyArray<number>
}

const written = (runs: ReadonlyArray<Kept>) =>
  `${first}${runs.map(({ input, output }) => `input: ${input}\noutput: ${output}`).join("\n\n[run]\n")}`

const keep = (session: Array<Kept>, run: Kept) => {
  session.push(run)
  if (session.length > shown) session.shift()
}

const kept = (): Array<Kept> => Array.from({ length: shown }, () => ({ input: 0, output: total, steps: [] }))

const effectSession = (): Start => {
  const session = kept()
  const fs = steps.map((n) => (value: number, text: string) => Effect.sync(() => value + n + read(text)))
  return () =>
    runPromise(
      Effect.gen(function* () {
        const text = written(session)
        const outputs: Array<number> = []
        let value = 0
        for (const f of fs) outputs.push((value = yield* f(value, text)))
        keep(session, { input: 0, output: value, steps: outputs })
        return value
      })
    )
}

const javascriptSession = (): Start => {
  const session = kept()
  const fs = steps.map((n) => (value: number, text: string) => value + n + read(text))
  return async () => {
    const text = written(session)
    const outputs: Array<number> = []
    let value = 0
    for (const f of fs) outputs.push((value = await f(value, text)))
    keep(session, { input: 0, output: value, steps: outputs })
    return value
  }
}

// -----------------------------------------------------------------------------
// eight branches
// -----------------------------------------------------------------------------

const ways = steps.slice(0, 8)
const totalWays = ways.reduce((sum, n) => sum + n, 0)
const sum = (values: ReadonlyArray<number>) => values.reduce((sum, n) => sum + n, 0)

/** A branch that waits once, as one that asks a model does. */
const branch = (n: number) => Effect.as(Effect.yieldNow(), n)

const parallel = Workflow.make({
  name: "parallel",
  node: Node.parallel("ways", Object.fromEntries(ways.map((n) => [`way ${n}`, Node.step(`way ${n}`, () => branch(n))])))
})

const heddleParallel: Start = () =>
  runPromise(Effect.map(Workflow.run(parallel, 0), ({ output }) => sum(Object.values(output))))

const effectParallel: Start = () =>
  runPromise(Effect.map(Effect.all(ways.map(branch), { concurrency: "unbounded" }), sum))

export const caseG = async (): Promise<ReadonlyArray<Result>> => {
  const history = "G-history: the same, the last five runs shown"
  const side = "G-parallel: eight branches"
  const inSession = "G: ten steps in a session, no history shown"
  const other = "G: the same, one step more that sees five runs"
  const row = "G-sequential: ten function steps"
  const results = await measure([
    competitor(row, "heddle", heddleSequential, total),
    competitor(row, "effect", effectSequential(), total),
    competitor(row, "javascript", javascriptSequential(), total),
    competitor(inSession, "heddle", await heddleSession(recorded), total),
    competitor(other, "heddle", await heddleSession(elsewhere), total),
    competitor(history, "heddle", await heddleSession(withHistory), total + steps.length),
    competitor(history, "effect", effectSession(), total + steps.length),
    competitor(history, "javascript", javascriptSession(), total + steps.length),
    competitor(side, "heddle", heddleParallel, totalWays),
    competitor(side, "effect", effectParallel, totalWays)
  ])
  const median = (name: string) => results.find((r) => r.case === name && r.subject === "heddle")?.median ?? Number.NaN
  const difference = (name: string, value: number): Result => ({
    case: name,
    subject: "heddle",
    unit: "µs",
    median: value,
    min: value,
    max: value
  })
  return [
    ...results,
    difference("G: what showing the runs adds to a step", (median(history) - median(inSession)) / steps.length),
    difference("G: what showing and recording add to a step", (median(history) - median(row)) / steps.length)
  ]
}
