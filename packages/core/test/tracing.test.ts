import { Agent, Call, Handler, Pipeline, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Effect, Schema, Tracer } from "effect"

class Denied extends Schema.TaggedError<Denied>()("Denied", {}) {}

/** Runs an effect and gives the spans that it opened. */
const spansOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const spans: Array<Tracer.Span> = []
    const native = yield* Effect.tracer
    const tracer = Tracer.make({
      span: (...args) => {
        const span = native.span(...args)
        spans.push(span)
        return span
      },
      context: (f, fiber) => native.context(f, fiber)
    })
    yield* Effect.exit(Effect.withTracer(effect, tracer))
    return spans
  })

const ping = Tool.make({ name: "ping", description: "Answers.", execute: () => "pong" })
const script = [{ calls: [{ tool: "ping", id: "c1" }] }, { text: "Done.", usage: { inputTokens: 3, outputTokens: 1 } }]

it.effect("without tracing a run opens no span", () =>
  Effect.gen(function* () {
    const agent = Agent.make({ name: "plain", tools: Tools.make(ping) })
    const spans = yield* spansOf(Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(script))))
    expect(spans).toEqual([])
  })
)

it.effect("with tracing, the run, each model call and each tool call have a span", () =>
  Effect.gen(function* () {
    const agent = Agent.make({ name: "traced", tools: Tools.make(ping), handlers: Handler.tracing() })
    const spans = yield* spansOf(Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(script))))
    expect(spans.map((span) => span.name)).toEqual(["invoke_agent traced", "chat", "execute_tool ping", "chat"])
    expect(spans.every((span) => span.status._tag === "Ended")).toBe(true)
    expect(spans[2]!.attributes.get("gen_ai.tool.call.id")).toBe("c1")
    expect(spans[2]!.attributes.get("heddle.outcome")).toBe("Succeeded")
    expect(spans[3]!.attributes.get("gen_ai.usage.input_tokens")).toBe(3)
  })
)

it.effect("a handler's failure is on the innermost span that it happened in", () =>
  Effect.gen(function* () {
    const failing = (guard: Handler.Handler<never, Denied>) => {
      const agent = Agent.make({
        name: "guarded",
        tools: Tools.make(ping),
        handlers: Pipeline.make(Handler.tracing(), guard)
      })
      return spansOf(Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(script))))
    }
    const where = (spans: ReadonlyArray<Tracer.Span>) =>
      spans.flatMap((span) => {
        const handler = span.attributes.get("heddle.handler")
        return handler === undefined ? [] : [[span.name, handler, span.attributes.get("heddle.hook")]]
      })
    expect(where(yield* failing(Handler.beforeModel(() => new Denied(), "guard")))).toEqual([
      ["invoke_agent guarded", "guard", "beforeModel"]
    ])
    expect(where(yield* failing(Handler.wrapToolCall(() => Call.fail(new Denied()), "guard")))).toEqual([
      ["execute_tool ping", "guard", "wrapToolCall"]
    ])
  })
)
