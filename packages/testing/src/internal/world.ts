/**
 * A small world in which laws are tried: a scripted model and a few tools that
 * log what they do.
 */
import { Call, ChatModel, Errors, type History, Tool, Tools } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Arbitraries from "../Arbitraries.ts"
import { type Cut, pieces } from "../ScriptedModel.ts"

/** What the model does in one turn. */
interface Turn {
  readonly text: string
  readonly calls: ReadonlyArray<"echo" | "slow" | "sorry" | "boom" | "throws" | "nowhere">
  /** Fails after its text, the first time that it is asked. */
  readonly fails: boolean
  /** The text that it fails after, where that is another one. */
  readonly half?: string
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

/** What errors are called when outcomes are compared. */
export const known = new Map<unknown, string>([
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

/** Logs a moment. The moment at which the run is to be interrupted does not pass. */
export type Point = (name: string) => Effect.Effect<void>

/** The tools of the world. */
export const makeTools = (point: Point) => {
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

/** The model of the world. */
export const makeModel = (
  world: World,
  point: Point,
  requests: Array<ChatModel.ModelRequest>,
  ownCalls: "fail" | undefined
) => {
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
        if (ownCalls === "fail" && request.purpose !== "agent") return yield* modelError
        const fails = turn.fails && !failed.has(now)
        const said = fails ? (turn.half ?? turn.text) : turn.text
        for (const text of pieces(said, world.cut)) yield* emit({ _tag: "Text", text })
        if (fails) {
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
