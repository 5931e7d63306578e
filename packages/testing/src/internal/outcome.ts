/**
 * Runs an agent in a world, and says what it came to in a form that can be
 * compared.
 */
import { Agent, type AgentRun, ChatModel, Errors, type Handler, Instructions, Message } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Cut } from "../ScriptedModel.ts"
import { Violation } from "./violation.ts"
import * as VirtualClock from "./virtualClock.ts"
import { known, makeModel, makeTools, type Point, type World } from "./world.ts"

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

/** How a run is to be carried out. */
export interface Circumstances {
  /** Puts probes around the handler under test. */
  readonly around?: (handler: Handler.Any, point: Point) => Handler.Any
  readonly mode?: "run" | "stream"
  readonly cut?: Cut
  /** Interrupts the run at the n-th logged moment. */
  readonly interruptAt?: number
  /** What the agent is told for this run alone. */
  readonly scoped?: string
  /** What the agent is told besides, in any run. */
  readonly own?: string
  /** What becomes of calls that a handler makes on its own account. They are answered like the agent's unless said. */
  readonly ownCalls?: "fail"
  readonly layer: Layer.Layer<unknown, unknown>
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
        instructions: Instructions.append(Instructions.make("Base.", "subject"), how.own ?? "", "subject"),
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
        call: makeModel({ ...world, cut: how.cut ?? world.cut }, point, requests, how.ownCalls)
      })
      // The types of the handler under test are its owner's: `layer` provides what it needs.
      const provided = Effect.provide(program, Layer.merge(how.layer, model)) as Effect.Effect<
        AgentRun.AgentResult,
        unknown
      >
      // Not a child: one that cannot be interrupted must not hold up the test.
      const fiber = yield* Effect.forkDaemon(provided)
      const exit =
        how.interruptAt === undefined
          ? yield* Fiber.await(fiber)
          : yield* Effect.raceFirst(
              Fiber.await(fiber),
              Effect.gen(function* () {
                yield* Deferred.await(reached)
                yield* Fiber.interruptFork(fiber)
                // Fibers that were about to go on do so before they hear of it.
                for (let i = 0; i < 5; i++) yield* Effect.yieldNow()
                log.push(interruption)
                return yield* Effect.timeoutFail(Fiber.await(fiber), {
                  duration: "100 days",
                  onTimeout: () => new Violation("The run could not be interrupted.")
                })
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
