/**
 * Random calls of agents in random sessions, one after the other, at once, and inside
 * of each other, beside a reference that says what is to become of them.
 */
import { Agent, Call as ModelCall, ChatModel, Message, Tool, Tools } from "@heddle/core"
import {
  ContextMode,
  Conversations,
  Memory,
  type MemorySettings,
  Session,
  Summaries,
  TokenCounter
} from "@heddle/memory"
import { ScriptedModel } from "@heddle/testing"
import { Effect, FastCheck, Layer, Schema } from "effect"
import { type Call, checkCalls, type Conversations as Kept, line, summaryOf } from "./reference.ts"
import { note, section, texts } from "./support.ts"

/** What is done with a store that is open. */
type Doing =
  | { readonly _tag: "Calls"; readonly lines: ReadonlyArray<Line> }
  | { readonly _tag: "Clear" | "Remove"; readonly place: Place; readonly agent: string | undefined }

/** What happens. */
type Happening = Doing | { readonly _tag: "Restart" }

/** Calls one after the other, while others go on. */
interface Line {
  readonly place: Place
  /** Steps that it takes before others have a turn. Of a few alone no fiber comes forward. */
  readonly pace: number
  readonly calls: ReadonlyArray<ToCall>
}

interface Place {
  readonly tenant: string
  readonly session: string
}

/** A call that has no question yet. */
interface ToCall extends Pick<Call, "agent" | "mode" | "settings"> {
  readonly topic: string
  readonly does: Exclude<Call["does"], "asks"> | ToCall
}

// -----------------------------------------------------------------------------
// what happens
// -----------------------------------------------------------------------------

const windows = FastCheck.oneof(
  { weight: 2, arbitrary: FastCheck.constant(undefined) },
  { weight: 2, arbitrary: FastCheck.record({ exchanges: FastCheck.nat(4) }) },
  // Each message counts four.
  { weight: 1, arbitrary: FastCheck.record({ tokens: FastCheck.nat(40) }) }
)
export const mode: FastCheck.Arbitrary<ContextMode.ContextMode> = FastCheck.tuple(
  windows,
  FastCheck.boolean(),
  FastCheck.constantFrom(2, 1000),
  FastCheck.constantFrom(4, 8)
).chain(([window, toolCalls, lookBack, after]) => {
  const options = window === undefined ? {} : { window }
  return FastCheck.constantFrom<ContextMode.ContextMode>(
    ContextMode.isolated(options),
    // These two meet in one another: twice as often as others.
    ContextMode.shared({ ...options, toolCalls }),
    ContextMode.shared({ ...options, toolCalls }),
    ContextMode.fork(options),
    ContextMode.fork(options),
    ContextMode.hybrid(options),
    ContextMode.selective(["*tea*"], { ...options, lookBack }),
    ContextMode.summarized({ ...options, after })
  )
})

export const settings: FastCheck.Arbitrary<MemorySettings.MemorySettings> = FastCheck.oneof(
  FastCheck.record(
    { strategy: FastCheck.constantFrom("full" as const, "window" as const), historyLimit: FastCheck.nat(5) },
    { requiredKeys: [] }
  ),
  FastCheck.record(
    {
      strategy: FastCheck.constant("summary" as const),
      historyLimit: FastCheck.nat(3),
      summaryTrigger: FastCheck.integer({ min: 4, max: 6 }),
      summaryMinGrowth: FastCheck.integer({ min: 1, max: 3 }),
      summaryEnabled: FastCheck.boolean()
    },
    { requiredKeys: ["strategy", "historyLimit", "summaryTrigger"] }
  )
)

const place: FastCheck.Arbitrary<Place> = FastCheck.record({
  tenant: FastCheck.constantFrom("acme", "acme", "acme", "zeta"),
  session: FastCheck.constantFrom("s", "s", "s", "t")
})
const names = ["ann", "bob"]
const agent = FastCheck.constantFrom(...names)

/** A call, with others inside of it up to a depth. */
const call = (depth: number): FastCheck.Arbitrary<ToCall> => {
  const does = FastCheck.constantFrom("answers" as const, "answers" as const, "calls" as const, "fails" as const)
  return FastCheck.record({
    agent,
    mode,
    settings,
    topic: FastCheck.constantFrom("tea", "coffee"),
    does: depth === 0 ? does : FastCheck.oneof(does, call(depth - 1))
  })
}

const calls = (place: FastCheck.Arbitrary<Place>, maxLength: number): FastCheck.Arbitrary<Line> =>
  FastCheck.record({
    place,
    pace: FastCheck.constantFrom(40, 70, 150, 2048),
    calls: FastCheck.array(call(2), { minLength: 1, maxLength })
  })

const happening: FastCheck.Arbitrary<Happening> = FastCheck.oneof(
  { weight: 8, arbitrary: FastCheck.tuple(calls(place, 1)).map((lines) => ({ _tag: "Calls" as const, lines })) },
  {
    weight: 4,
    arbitrary: FastCheck.tuple(place, FastCheck.boolean())
      .chain(([here, isOne]) =>
        FastCheck.array(calls(isOne ? FastCheck.constant(here) : place, 2), { minLength: 2, maxLength: 4 })
      )
      .map((lines) => ({ _tag: "Calls" as const, lines }))
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constantFrom("Clear" as const, "Remove" as const),
      place,
      agent: FastCheck.option(agent, { nil: undefined })
    })
  },
  { weight: 1, arbitrary: FastCheck.constant<Happening>({ _tag: "Restart" }) }
)

/** What happens, one after the other. */
export const happenings: FastCheck.Arbitrary<ReadonlyArray<Happening>> = FastCheck.array(happening, {
  maxLength: 30,
  size: "max"
})

/** So many runs. What is found is told of before the time of a test is over, if not in its shortest form. */
export const runs = (numRuns: number) => ({ fastCheck: { numRuns, interruptAfterTimeLimit: 60_000 } })

// -----------------------------------------------------------------------------
// those who do it
// -----------------------------------------------------------------------------

type Needs = ChatModel.ChatModel | Conversations.Conversations | Session.Session | Summaries.Summaries

/** Runs calls; `inner` is the call inside of the one with a question. */
const runner = (inner: (question: string) => Call) => {
  const ask: Tool.Tool<never, Needs> = Tool.make({
    name: "ask",
    description: "Asks an agent.",
    parameters: Schema.Struct({ question: Schema.String }),
    execute: ({ question }) => Effect.map(Effect.exit(run(inner(question))), ({ _tag }) => _tag)
  })
  const agents = new Map(
    names.map((name) => [
      name,
      Agent.make({ name, tools: Tools.make(note, ask), handlers: Memory.handler({ section: false }) })
    ])
  )
  const run = ({ agent, mode, question, settings }: Call) =>
    Agent.run(agents.get(agent)!, question, Memory.call({ mode, settings }))
  return run
}

/** A summary: what there is of an earlier one, and what was asked since. */
const gist = (material: string): string => {
  const [, earlier] = /<earlier_summary>\n(.*)\n<\/earlier_summary>/.exec(material) ?? []
  const asked = Array.from(material.matchAll(/^User: (.*)$/gm), ([, question]) => question)
  return [...(earlier === undefined ? [] : [earlier]), ...asked].join(", ")
}

/** The summaries that a model was shown, and the texts of the history. */
const lineOf = (request: ChatModel.ModelRequest): string =>
  line([
    ...section(request, "memory-summary").map((told) =>
      told
        .replace(/^The main [^]*summary>\n(.*)\n<[^]*$/, "(main: $1)")
        .replace(/^Your [^]*summary>\n(.*)\n<[^]*$/, "(own: $1)")
    ),
    ...texts(request.history)
  ])

/** Answers, calls a tool first, or fails, as the question says. */
export const script: ScriptedModel.Script = ({ history, purpose }) => {
  if (purpose === "memory_summary") return gist(Message.text(history[0]!))
  const question = Message.text(history.findLast(({ role }) => role === "user")!)
  if (question.includes("fails")) throw new Error("no answer")
  if (history.at(-1)!.role === "user") {
    if (question.includes("calls")) return { calls: [{ tool: "note" }] }
    if (question.includes("asks")) return { calls: [{ tool: "ask", arguments: { question } }] }
  }
  return `re: ${question}`
}

/** A store whose operations take their time, in which others have theirs. */
const unhurried = (store: Conversations.Service): Conversations.Service => {
  let n = 0
  // More and fewer turns, so that one is overtaken by another.
  const turns = Effect.suspend(() => Effect.repeatN(Effect.yieldNow(), (n += 7) % 13))
  const slow = <A, E>(operation: Effect.Effect<A, E>) => Effect.zipLeft(Effect.zipRight(turns, operation), turns)
  return {
    ...store,
    read: (...asked) => slow(store.read(...asked)),
    append: (...said) => slow(store.append(...said))
  }
}

/**
 * Does it all in a store, which is opened anew at each restart, and says where the
 * store is not what the reference is. `check` is told what is to be the same.
 */
export const behave = <E>(
  happenings: ReadonlyArray<Happening>,
  open: Layer.Layer<Conversations.Conversations, E>,
  check: (found: unknown, wanted: unknown) => void
): Effect.Effect<void, E> =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(script)
    // Summaries are written between the happenings: of those at once one cannot say what they come before.
    const between = yield* Effect.makeLatch(false)
    const gated = ChatModel.layer((request) =>
      request.purpose === "agent"
        ? model.service.call(request)
        : ModelCall.unwrap(Effect.as(between.await, model.service.call(request)))
    )
    const counter = Layer.succeed(TokenCounter.TokenCounter, { count: () => 0 })
    let n = 0
    const inner = new Map<string, Call>()
    const asked = ({ does, topic, ...call }: ToCall, place: Place): Call => {
      const what = typeof does === "string" ? does : "asks"
      const question = `${++n} ${topic} ${what} of ${place.tenant}/${place.session}/`
      if (typeof does === "string") return { ...call, does, question }
      inner.set(question, asked(does, place))
      return { ...call, does: "asks", question, inner: inner.get(question)! }
    }
    const run = runner((question) => inner.get(question)!)

    const known = new Map<string, Kept>()
    const nothing: Kept = new Map([undefined, ...names].map((of) => [of, { all: [], through: 0 }]))
    const nameOf = ({ session, tenant }: Place) => `${tenant}/${session}`
    const at = (place: Place) => known.get(nameOf(place)) ?? nothing
    const keyOf = (place: Place, of: string | undefined) => (of === undefined ? place : { ...place, agent: of })

    const together = (lines: ReadonlyArray<Line>) =>
      Effect.gen(function* () {
        const store = yield* Conversations.Conversations
        const before = (yield* model.requests).length
        const asking = lines.map(({ calls, ...line }) => ({
          ...line,
          calls: calls.map((call) => asked(call, line.place))
        }))
        yield* Effect.forEach(
          asking,
          ({ calls, pace, place }) =>
            Effect.forEach(calls, (call) =>
              Effect.map(Effect.exit(run(call)), ({ _tag }) =>
                check(_tag, call.does === "fails" ? "Failure" : "Success")
              )
            ).pipe(Session.within({ id: place.session, tenant: place.tenant }), Effect.withMaxOpsBeforeYield(pace)),
          { concurrency: "unbounded", discard: true }
        )
        const { settled } = yield* Summaries.Summaries
        yield* Effect.zipRight(between.open, settled)
        yield* between.close
        const requests = (yield* model.requests).slice(before)
        const saw = ({ question }: Call) => {
          const request = requests.find(({ history }) => texts(history).at(-1) === question)
          return request === undefined ? "" : lineOf(request)
        }
        for (const place of new Map(lines.map(({ place }) => [nameOf(place), place])).values()) {
          const here = asking.filter((line) => nameOf(line.place) === nameOf(place))
          const after = new Map(
            yield* Effect.forEach(nothing.keys(), (of) =>
              Effect.map(store.read(keyOf(place, of)), ({ exchanges, summary }) => {
                const all = exchanges.map(({ messages }) => line(texts(messages)))
                const through = summary?.through ?? 0
                check(summary?.text, through === 0 ? undefined : summaryOf(all.slice(0, through)))
                return [of, { all, through }] as const
              })
            )
          )
          checkCalls({ before: at(place), lines: here.map(({ calls }) => calls), after, saw, check })
          known.set(nameOf(place), after)
        }
        // Said directly, not by the reference: nothing of another tenant or session.
        for (const request of requests) {
          const places = lineOf(request).matchAll(/ of (\w+\/\w+)\//g)
          check(new Set(Array.from(places, ([, place]) => place)).size, 1)
        }
      })

    const one = (doing: Doing) => {
      if (doing._tag === "Calls") return together(doing.lines)
      const { _tag, agent, place } = doing
      known.set(nameOf(place), new Map(at(place)).set(agent, { all: [], through: 0 }))
      return Effect.flatMap(Conversations.Conversations, (store) =>
        _tag === "Clear" ? store.clear(keyOf(place, agent)) : store.remove(keyOf(place, agent))
      )
    }
    const stretches: Array<Array<Doing>> = [[]]
    for (const happening of happenings) {
      if (happening._tag === "Restart") stretches.push([])
      else stretches.at(-1)!.push(happening)
    }
    for (const stretch of stretches) {
      yield* Effect.forEach(stretch, one, { discard: true }).pipe(
        // What fails here is the store.
        Effect.orDie,
        Effect.updateService(Conversations.Conversations, unhurried),
        Effect.provide(Summaries.layer().pipe(Layer.provideMerge(Layer.mergeAll(open, gated, counter))))
      )
    }
  })
