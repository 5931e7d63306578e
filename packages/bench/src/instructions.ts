/**
 * Case I: what is done to instructions, in loops whose results are added up.
 *
 * The others have no instructions of this kind. What stands beside: with
 * JavaScript a string in an object, `AsyncLocalStorage` where the value is read
 * from within a run, and an array copied with one element more; with Effect a
 * service read from the context, and `Effect.provideService`, which gives one
 * effect a value of its own.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { Agent, Handler, Instructions } from "@heddle/core"
import { Context, Effect } from "effect"
import * as BareEffect from "./bareEffect.ts"
import * as Heddle from "./heddle.ts"
import { assert, type Competitor, measure, type Result, type Subject, summary } from "./measure.ts"
import { answer, nothingSeen, question } from "./work.ts"

const texts = Array.from({ length: 5 }, (_, i) => `Section ${i}.`)
const whole = texts.join("\n\n")
const fiveSections = () => Instructions.fromSections(texts.map((text, i) => ({ source: `handler-${i}`, text })))

const competitor = (
  name: string,
  subject: Subject,
  run: Competitor["run"],
  unit: Competitor["unit"] = "ns"
): Competitor => ({ case: name, subject, unit, run })

// -----------------------------------------------------------------------------
// reading
// -----------------------------------------------------------------------------

/** Values to go round, so that what is read is not always the same. */
const values = Array.from({ length: 8 }, fiveSections)
const objects = values.map((value) => ({ text: Instructions.render(value) }))

const reading = "I: reading the rendered text"
const rendered: ReadonlyArray<Competitor> = [
  competitor(reading, "heddle", (times) => {
    let length = 0
    for (let i = 0; i < times; i++) length += Instructions.render(values[i & 7]!).length
    assert(length === times * whole.length, "heddle reads instructions")
  }),
  competitor(reading, "javascript", (times) => {
    let length = 0
    for (let i = 0; i < times; i++) length += objects[i & 7]!.text.length
    assert(length === times * whole.length, "JavaScript reads instructions")
  })
]

const inside = "I: reading from within a run"

class Current extends Context.Tag("Current")<Current, { readonly text: string }>() {}
const storage = new AsyncLocalStorage<{ readonly text: string }>()

/** How often a hook reads before the model is called. */
let reads = 0
let length = 0
const reader = Agent.make({
  name: "reader",
  instructions: fiveSections(),
  handlers: Handler.beforeModel((history) =>
    Effect.gen(function* () {
      for (let i = 0; i < reads; i++) length += Instructions.render(yield* Instructions.current).length
      return history
    })
  )
})
const runReader = Heddle.runner(Heddle.model(nothingSeen(), 0))

const within: ReadonlyArray<Competitor> = [
  competitor(inside, "heddle", async (times) => {
    reads = times
    length = 0
    await runReader(Agent.run(reader, question))
    assert(length === times * whole.length, "a hook reads the instructions in force")
  }),
  competitor(inside, "effect", async (times) => {
    let length = 0
    const loop = Effect.gen(function* () {
      for (let i = 0; i < times; i++) length += (yield* Current).text.length
    })
    await Effect.runPromise(Effect.provideService(loop, Current, { text: whole }))
    assert(length === times * whole.length, "Effect reads a service")
  }),
  competitor(inside, "javascript", async (times) => {
    const length = await storage.run({ text: whole }, async () => {
      let length = 0
      for (let i = 0; i < times; i++) length += storage.getStore()!.text.length
      return length
    })
    assert(length === times * whole.length, "JavaScript reads a stored value")
  })
]

// -----------------------------------------------------------------------------
// scoping
// -----------------------------------------------------------------------------

const agent = Agent.make({ name: "scoped", instructions: fiveSections() })
const scoped = Instructions.scoped(Instructions.append("For Ada."))
const base = Agent.run(agent, question)

const setting = "I: setting a scoped value"
const held: Array<unknown> = Array.from({ length: 64 })

/** Only the value that carries the change: nothing is run. */
const set: ReadonlyArray<Competitor> = [
  competitor(setting, "heddle", (times) => {
    for (let i = 0; i < times; i++) held[i & 63] = scoped(base)
    assert(times < 64 || held.every((run) => Effect.isEffect(run) && run !== base), "runs are given instructions")
  }),
  competitor(setting, "effect", (times) => {
    for (let i = 0; i < times; i++) held[i & 63] = Effect.provideService(Current, Current, { text: whole })
    assert(times < 64 || held.every((run) => Effect.isEffect(run)), "effects are given a service")
  }),
  competitor(setting, "javascript", (times) => {
    for (let i = 0; i < times; i++) held[i & 63] = { text: objects[i & 7]!.text, change: scoped }
    assert(times < 64 || held.every((run) => typeof run === "object"), "objects are made")
  })
]

/** Runs of an agent, and of the bare Effect loop, each plain and with a value of its own. */
const started = { agent: nothingSeen(), loop: nothingSeen() }
const runAgent = Heddle.runner(Heddle.model(started.agent, 0))
const loop = BareEffect.agent(started.loop, 0)
const runLoop = BareEffect.runner(BareEffect.model(started.loop, 0))
const plainLoop = BareEffect.run(loop, question)

const inTurn = 200
const together = 20

/** What `b` takes more than `a`, in ns: the median of many short turns, so that a pause in one of them does not count. */
const extra = async (subject: Subject, a: Start, b: Start): Promise<number> => {
  const time = async (start: Start) => {
    const startedAt = performance.now()
    for (let i = 0; i < together; i++) assert((await start()).text === answer, `${subject} answers`)
    return performance.now() - startedAt
  }
  const differences: Array<number> = []
  for (let turn = 0; turn < inTurn; turn++) {
    const first = turn % 2 === 0 ? await time(a) : 0
    const withChange = await time(b)
    const plain = turn % 2 === 0 ? first : await time(a)
    differences.push(((withChange - plain) * 1e6) / together)
  }
  return summary(differences).median
}

type Start = () => Promise<{ readonly text: string }>

/** What a run takes more when its instructions are scoped: the value, the change and the new text. */
const difference = async (): Promise<ReadonlyArray<Result>> => {
  const heddle: Array<number> = []
  const effect: Array<number> = []
  for (let round = -3; round < 15; round++) {
    const ours = await extra(
      "heddle",
      () => runAgent(Agent.run(agent, question)),
      () => runAgent(scoped(Agent.run(agent, question)))
    )
    const bare = await extra(
      "effect",
      () => runLoop(plainLoop),
      () => runLoop(Effect.provideService(plainLoop, Current, { text: whole }))
    )
    if (round < 0) continue
    heddle.push(ours)
    effect.push(bare)
  }
  const name = "I: a run with a scoped value, less one without"
  return [
    { case: name, subject: "heddle", unit: "ns", ...summary(heddle) },
    { case: name, subject: "effect", unit: "ns", ...summary(effect) }
  ]
}

// -----------------------------------------------------------------------------
// appending
// -----------------------------------------------------------------------------

const appending = "I: appending a section to five"
const appendAndRender = "I: appending and rendering"
const more = "One more."

const append: ReadonlyArray<Competitor> = [
  competitor(appending, "heddle", (times) => {
    let sections = 0
    for (let i = 0; i < times; i++) sections += Instructions.append(values[i & 7]!, more, "more").sections.length
    assert(sections === times * 6, "heddle appends sections")
  }),
  competitor(appending, "javascript", (times) => {
    let sections = 0
    for (let i = 0; i < times; i++) sections += [...values[i & 7]!.sections, { source: "more", text: more }].length
    assert(sections === times * 6, "JavaScript appends sections")
  }),
  competitor(appendAndRender, "heddle", (times) => {
    let length = 0
    for (let i = 0; i < times; i++)
      length += Instructions.render(Instructions.append(values[i & 7]!, more, "more")).length
    assert(length === times * (whole.length + 2 + more.length), "heddle appends and renders")
  }),
  competitor(appendAndRender, "javascript", (times) => {
    let length = 0
    for (let i = 0; i < times; i++) length += `${objects[i & 7]!.text}\n\n${more}`.length
    assert(length === times * (whole.length + 2 + more.length), "JavaScript appends and renders")
  })
]

export const caseI = async (): Promise<ReadonlyArray<Result>> => [
  ...(await measure(rendered)),
  ...(await measure(within)),
  ...(await measure(set)),
  ...(await difference()),
  ...(await measure(append))
]
