import { Agent, Message, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck, Option, Schema, Stream } from "effect"
import { agent, secret } from "../agent.ts"
import { redact } from "../redact.ts"

const askFor = (...tools: ReadonlyArray<string>) =>
  ScriptedModel.layer([{ calls: tools.map((tool) => ({ tool })) }, "Done."])

const outcomes = (self: { readonly history: ReadonlyArray<Message.Message> }) =>
  self.history.flatMap(Message.toolCalls).map((call) => call.outcome)

/** The outcomes of a run, and those of the same run streamed, with what was emitted on the way. */
const both = <E, R>(agent: Agent.Agent<string, E, R>, ...tools: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const run = yield* Agent.run(agent, "Go.").pipe(Effect.provide(askFor(...tools)))
    const events = yield* Agent.stream(agent, "Go.").pipe(Stream.runCollect, Effect.provide(askFor(...tools)))
    const last = Option.getOrThrow(Chunk.last(events))
    if (last._tag !== "Completed") throw new Error(`The stream ended with ${last._tag}.`)
    return { run: outcomes(run), stream: outcomes(last.result), events: Chunk.toReadonlyArray(events) }
  })

it.effect("plain and streaming tools lose the secret alike, in run and in stream", () =>
  Effect.gen(function* () {
    const { events, run, stream } = yield* both(agent, "read_log", "deploy")
    expect(run).toEqual([
      Message.succeeded("connect with [redacted]: ok\nread with [redacted]: 12 rows\npassword s3c"),
      Message.succeeded({ url: "https://user:[redacted]@example.org" })
    ])
    expect(stream).toEqual(run)
    expect(JSON.stringify(events)).not.toContain(secret)
    expect(events).toContainEqual(expect.objectContaining({ value: { percent: 10, step: "log in with [redacted]" } }))
  })
)

// Texts in which the secret, parts of it and what looks like it come up often.
const text = FastCheck.array(FastCheck.constantFrom("abab", "ab", "aba", "b", "x", "[redacted"), { maxLength: 12 }).map(
  (pieces) => pieces.join("")
)
const cut = FastCheck.oneof(
  FastCheck.integer({ min: 1, max: 5 }).map((every) => ({ every })),
  FastCheck.nat().map((seed) => ({ seed }))
)

it.effect.prop(
  "wherever the text is cut, the result is that of the whole text",
  [text, cut],
  ([text, cut]) =>
    Effect.gen(function* () {
      const say = Tool.stream({
        name: "say",
        description: "Says it.",
        execute: () => Stream.fromIterable(ScriptedModel.pieces(text, cut))
      })
      const parrot = Agent.make({ name: "parrot", tools: Tools.make(say), handlers: redact("abab") })
      const { events, run, stream } = yield* both(parrot, "say")
      const clean = text.replaceAll("abab", "[redacted]")
      expect(run).toEqual([Message.succeeded(clean)])
      expect(stream).toEqual(run)
      expect(events.map((event) => (event._tag === "ToolText" ? event.text : "")).join("")).toBe(clean)
    }),
  { timeout: 30_000, fastCheck: { numRuns: 50 } }
)

class Refused extends Schema.TaggedError<Refused>()("Refused", { key: Schema.String }) {}

it.effect("a failure loses the secret, too", () =>
  Effect.gen(function* () {
    const login = Tool.make({
      name: "login",
      description: "Logs in.",
      failure: Refused,
      execute: () => new Refused({ key: "s3cr3t" })
    })
    const { run, stream } = yield* both(
      Agent.make({ name: "guest", tools: Tools.make(login), handlers: redact(secret) }),
      "login"
    )
    expect(run).toMatchObject([{ _tag: "Failed", error: { key: "[redacted]" } }])
    expect(stream).toEqual(run)
  })
)
