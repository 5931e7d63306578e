/**
 * A small world in which laws are tried: a scripted model, a few tools, probes
 * around the handler under test, and a record of all that happened.
 */
import {
  Agent,
  type AgentRun,
  Call,
  ChatModel,
  Errors,
  Handler,
  type History,
  Instructions,
  Message,
  Tool,
  Tools
} from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Arbitraries from "../Arbitraries.ts"
import { type Cut, pieces } from "../ScriptedModel.ts"
import * as VirtualClock from "./virtualClock.ts"

/** What the model does in one turn. */
interface Turn {
  readonly text: string
  readonly calls: ReadonlyArray<"echo" | "slow" | "sorry" | "boom" | "throws" | "nowhere">
  /** Fails after its text, the first time that it is asked. */
  readonly fails: boolean
}

/** One set of circumstances. */
export interface World {
  readonly input: string
  readonly history: History.History
  readonly turns: ReadonlyArray<Turn>
  readonly cut: Cut
  /** Picks positions, hooks and moments. */
  readonly pick: number
}

/** The failure of the tool that fails the run. */
class Boom extends Schema.TaggedError<Boom>()("Boom", {}) {}

const boom = new Boom()
const modelError = new Errors.ModelError({ reason: "Network", message: "the line broke" })
const thrown = new Error("thrown by a tool")

/** Errors whose identity must be kept. */
const known = new Map<unknown, string>([
  [boom, "boom"],
  [modelError, "modelError"],
  [thrown, "thrown"],
  [Arbitraries.handlerFailure, "handlerFailure"]
])

const turn: FastCheck.Arbitrary<Turn> = FastCheck.record({
  text: FastCheck.constantFrom("", "one", "two words", "a secret here", "three short words"),
  calls: FastCheck.array(
    FastCheck.oneof(
      {
        weight: 4,
        arbitrary: FastCheck.constantFrom("echo" as const, "slow" as const, "sorry" as const, "nowhere" as const)
      },
      { weight: 1, arbitrary: FastCheck.constantFrom("boom" as const, "throws" as const) }
    ),
    { maxLength: 3 }
  ),
  fails: FastCheck.integer({ min: 0, max: 5 }).map((n) => n === 0)
})

/** Circumstances of all kinds. */
export const arbitrary: FastCheck.Arbitrary<World> = FastCheck.record({
  input: FastCheck.constantFrom("hello", "{a} \\frac{1}{2}", ""),
  history: Arbitraries.history,
  turns: FastCheck.array(turn, { maxLength: 3 }),
  cut: FastCheck.oneof(
    FastCheck.constant<Cut>("whole"),
    FastCheck.nat(9999).map((seed): Cut => ({ seed })),
    FastCheck.constant<Cut>({ every: 1 })
  ),
  pick: FastCheck.nat(9999)
})

/** What happened, in order: `a.beforeModel`, `a.wrapModelCall>` (entered), `a.wrapModelCall<` (left), `model>`, `tool>echo` … */
export type Log = ReadonlyArray<string>

/** What a run came to. */
export interface Outcome {
  /** Everything that can be compared, as text: result or error, and what the model was asked. */
  readonly summary: string
  readonly exit: Exit.Exit<AgentRun.AgentResult, unknown>
  readonly requests: ReadonlyArray<ChatModel.ModelRequest>
  readonly log: Log
}

/** The moment in the log at which all fibers of the run had been told of its interruption. */
export const interruption = "interrupted!"

/** Logs a moment. The moment at which the run is to be interrupted does not pass. */
export type Point = (name: string) => Effect.Effect<void>

/** How a run is to be carried out. */
export interface Circumstances {
  /** Puts probes around the handler under test. */
  readonly around?: (handler: Handler.Any, point: Point) => Handler.Any
  readonly mode?: "run" | "stream"
  readonly cut?: Cut
  /** Interrupts the run at the n-th logged moment. */
  readonly interruptAt?: number
  readonly scoped?: string
  readonly layer: Layer.Layer<unknown, unknown>
}

const makeTools = (point: Point) => {
  const tool = (name: string, body: Effect.Effect<string, Boom>) =>
    Tool.make({
      name,
      description: `The ${name} tool.`,
      failure: Boom,
      failureMode: name === "boom" ? "fail" : "return",
      execute: () => Effect.zipRight(point(`tool>${name}`), body)
    })
  return Tools.make(
    tool("echo", Effect.succeed("echo")),
    Tool.stream({
      name: "slow",
      description: "The slow tool.",
      execute: () =>
        Stream.fromEffect(point("tool>slow")).pipe(
          Stream.drain,
          Stream.concat(Stream.make("slow ", "and ", "steady")),
          Stream.tap(() => Effect.yieldNow())
        )
    }),
    tool("sorry", boom),
    tool("boom", boom),
    tool("throws", Effect.die(thrown))
  )
}

const makeModel = (world: World, cut: Cut, point: Point, requests: Array<ChatModel.ModelRequest>) => {
  const failed = new Set<number>()
  return (request: ChatModel.ModelRequest): ChatModel.ModelCall => {
    // The turn is read off the conversation, so that a call made twice gets the same answer.
    const now =
      request.history.filter((message) => message.role === "assistant").length -
      world.history.filter((message) => message.role === "assistant").length
    const turn = world.turns[Math.max(0, now)] ?? { text: "the end", calls: [], fails: false }
    return Call.make((emit) =>
      Effect.gen(function* () {
        requests.push(request)
        yield* point("model>")
        yield* Effect.yieldNow()
        for (const text of pieces(turn.text, cut)) yield* emit({ _tag: "Text", text })
        if (turn.fails && !failed.has(now)) {
          failed.add(now)
          return yield* modelError
        }
        const offered = request.toolChoice !== "none"
        for (const [i, name] of (offered ? turn.calls : []).entries()) {
          yield* emit({ _tag: "ToolCall", id: `c${now}-${i}`, name, arguments: {} })
        }
        yield* emit({ _tag: "Finish", reason: turn.calls.length > 0 ? "tool-calls" : "stop" })
      })
    )
  }
}

/** Runs an agent with a handler in a world. */
export const run = (handler: Handler.Any, world: World, how: Circumstances): Promise<Outcome> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const log: Array<string> = []
      const requests: Array<ChatModel.ModelRequest> = []
      const reached = yield* Deferred.make<void>()
      const point: Point = (name) =>
        Effect.suspend(() => {
          log.push(name)
          if (log.length - 1 !== how.interruptAt) return Effect.void
          // What cannot be interrupted must not be held: there the interruption just comes in between.
          const held = !["<", ".acquire", ".release"].some((end) => name.endsWith(end))
          return Effect.zipRight(Deferred.succeed(reached, undefined), held ? Effect.never : Effect.yieldNow())
        })
      const agent = Agent.make({
        name: "subject",
        instructions: "Base.",
        tools: makeTools(point),
        handlers: how.around === undefined ? handler : how.around(handler, point),
        maxSteps: 6,
        toolConcurrency: 2
      })
      const change = Instructions.scoped(
        how.scoped === undefined ? (instructions) => instructions : Instructions.append(how.scoped, "scoped")
      )
      const options = { history: world.history }
      const program =
        how.mode === "stream"
          ? Effect.map(
              Stream.runFold(change(Agent.stream(agent, world.input, options)), foldEmpty, foldEvent),
              foldedResult
            )
          : change(Agent.run(agent, world.input, options))
      const model = Layer.succeed(ChatModel.ChatModel, {
        call: makeModel(world, how.cut ?? world.cut, point, requests)
      })
      // The types of the handler under test are its owner's: `layer` provides what it needs.
      const provided = Effect.provide(program, Layer.merge(how.layer, model)) as Effect.Effect<
        AgentRun.AgentResult,
        unknown
      >
      const fiber = yield* Effect.fork(provided)
      const exit =
        how.interruptAt === undefined
          ? yield* Fiber.await(fiber)
          : yield* Effect.race(
              Fiber.await(fiber),
              Effect.gen(function* () {
                yield* Deferred.await(reached)
                yield* Fiber.interruptFork(fiber)
                // Fibers that were about to go on do so before they hear of it.
                for (let i = 0; i < 5; i++) yield* Effect.yieldNow()
                log.push(interruption)
                return yield* Fiber.await(fiber)
              })
            )
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      yield* Effect.sleep("1 hour")
      return { exit, requests, log, summary: summarize(exit, requests) }
    }).pipe(Effect.withClock(VirtualClock.make()))
  )

// -----------------------------------------------------------------------------
// the fold of a stream, written without the library's own
// -----------------------------------------------------------------------------

interface Folded {
  readonly result: AgentRun.AgentResult | undefined
  readonly text: string
  readonly step: number
}

const foldEmpty: Folded = { result: undefined, text: "", step: 0 }

type Event = Stream.Stream.Success<ReturnType<typeof Agent.stream<string, never, never>>>

const foldEvent = (folded: Folded, event: Event): Folded => {
  switch (event._tag) {
    case "Reset":
      return foldEmpty
    case "StepStarted":
      return { ...folded, text: "", step: event.step }
    case "StepReset":
      return { ...folded, text: "" }
    case "Text":
      return { ...folded, text: folded.text + event.text }
    case "Completed":
      return { ...folded, result: event.result }
    default:
      return folded
  }
}

const foldedResult = ({ result, text }: Folded): AgentRun.AgentResult => {
  if (result === undefined) throw new Error("The stream ended well without a result.")
  const last = result.history.at(-1)
  if (
    result.end === "answer" &&
    last?.role === "assistant" &&
    last.metadata === undefined &&
    Message.text(last) !== text
  ) {
    throw new Error(
      `The pieces of text make ${JSON.stringify(text)}, the answer is ${JSON.stringify(Message.text(last))}.`
    )
  }
  return result
}

// -----------------------------------------------------------------------------
// comparing
// -----------------------------------------------------------------------------

const summarize = (
  exit: Exit.Exit<AgentRun.AgentResult, unknown>,
  requests: ReadonlyArray<ChatModel.ModelRequest>
): string =>
  JSON.stringify(
    {
      exit: Exit.isSuccess(exit) ? exit.value : summarizeCause(exit.cause),
      requests: requests.map((request) => ({
        instructions: Instructions.render(request.instructions),
        history: request.history,
        tools: request.tools.names,
        toolChoice: request.toolChoice
      }))
    },
    null,
    1
  )

const summarizeCause = (cause: Cause.Cause<unknown>): unknown => {
  if (Cause.isInterruptedOnly(cause)) return "interrupted"
  const error = Cause.squash(cause)
  if (error instanceof Errors.ToolError) return { tool: error.tool, reason: error.reason, cause: name(error.cause) }
  return name(error)
}

/** Errors of the world are the same object or they are something else. */
const name = (error: unknown): string => known.get(error) ?? `another ${String(error)}`

// -----------------------------------------------------------------------------
// probes
// -----------------------------------------------------------------------------

const passing = <C extends Call.Any>(call: C, name: string, point: Point): C =>
  Call.around(call, (effect) => Effect.onExit(Effect.zipRight(point(`${name}>`), effect), () => point(`${name}<`))) as C

/** A handler that forwards everything and logs every hook. */
export const probe = (name: string, point: Point): Handler.Handler =>
  Handler.make(name, {
    wrapAgent: (run, next) => passing(next(run), `${name}.wrapAgent`, point),
    beforeAgent: (run) =>
      Effect.as(
        Effect.acquireRelease(point(`${name}.acquire`), () => point(`${name}.release`)),
        run
      ),
    beforeModel: (history) => Effect.as(point(`${name}.beforeModel`), history),
    wrapModelCall: (request, next) => passing(next(request), `${name}.wrapModelCall`, point),
    afterModel: (history) => Effect.as(point(`${name}.afterModel`), history),
    wrapToolCall: (request, next) => passing(next(request), `${name}.wrapToolCall`, point)
  })

/** A handler that forwards everything. */
export const identity = (name: string): Handler.Handler =>
  Handler.make(name, {
    wrapAgent: (run, next) => next(run),
    beforeAgent: (run) => run,
    beforeModel: (history) => Effect.succeed(history),
    wrapModelCall: (request, next) => Call.map(next(request), (part) => part),
    afterModel: (history) => history,
    wrapToolCall: (request, next) => next(request)
  })
