import { describe, expect, it } from "@effect/vitest"
import * as AiEmbeddingModel from "@effect/ai/EmbeddingModel"
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as AiTool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, EmbeddingModel, Errors, Message, Tool, Tools } from "@heddle/core"
import * as EffectAi from "@heddle/models/effectAi"
import { ScriptedModel } from "@heddle/testing"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { called, finish, provider, text } from "./support.ts"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { city: Schema.String }) {}
class Scale extends Context.Tag("Scale")<Scale, number>() {}

const City = { city: Schema.String.annotations({ description: "A city." }) }
const Weather = Toolkit.make(
  AiTool.make("weather", {
    description: "The weather in a city.",
    parameters: City,
    success: Schema.Struct({ celsius: Schema.NumberFromString }),
    failure: NotFound,
    failureMode: "return",
    dependencies: [Scale]
  }).annotate(AiTool.Readonly, true),
  AiTool.make("wipe", { description: "Wipes all.", failure: NotFound }).annotate(AiTool.Idempotent, true),
  AiTool.make("odd", { success: Schema.Number })
)
const WeatherLive = Weather.toLayer({
  weather: ({ city }) =>
    city === "Oslo" ? Effect.map(Scale, (scale) => ({ celsius: 4 * scale })) : new NotFound({ city }),
  wipe: () => new NotFound({ city: "all" }),
  odd: () => Effect.succeed("no number" as unknown as number)
})

describe("a toolkit as tools of ours", () => {
  const run = (tool: "weather" | "wipe" | "odd", args: unknown, failures: "as-declared" | "return" = "as-declared") =>
    Effect.gen(function* () {
      const tools = EffectAi.fromToolkit(yield* Weather, { failures })
      const model = yield* ScriptedModel.make([{ calls: [{ tool, arguments: args }] }, "Done."])
      const agent = Agent.make({ name: "helper", tools })
      const result = yield* Agent.run(agent, "?").pipe(Effect.provide(model.layer), Effect.provideService(Scale, 2))
      return result.history.flatMap(Message.toolCalls)[0]?.outcome
    }).pipe(Effect.provide(WeatherLive))

  it.effect("has names, descriptions, schemas and annotations", () =>
    Effect.gen(function* () {
      const tools = EffectAi.fromToolkit(yield* Weather)
      expect(
        Array.from(tools, ({ annotations, description, name }) => ({ name, description, ...annotations }))
      ).toEqual([
        {
          name: "weather",
          description: "The weather in a city.",
          readOnly: true,
          destructive: false,
          idempotent: false
        },
        // What is not said is so as @effect/ai takes it.
        { name: "wipe", description: "Wipes all.", readOnly: false, destructive: true, idempotent: true },
        { name: "odd", description: "", readOnly: false, destructive: true, idempotent: false }
      ])
      expect(tools.get("weather")?.jsonSchema).toMatchObject({
        properties: { city: { type: "string", description: "A city." } },
        required: ["city"]
      })
      expect(tools.get("wipe")?.jsonSchema).toMatchObject({
        type: "object",
        properties: {},
        additionalProperties: false
      })
    }).pipe(Effect.provide(WeatherLive))
  )

  it.effect("gives encoded results, with what the tool needs from the run", () =>
    Effect.gen(function* () {
      expect(yield* run("weather", { city: "Oslo" })).toEqual(Message.succeeded({ celsius: "8" }))
    })
  )

  it.effect("sends a failure that is to be returned back to the model", () =>
    Effect.gen(function* () {
      expect(yield* run("weather", { city: "Atlantis" })).toEqual(
        Message.failed('Tool "weather" failed.', { _tag: "NotFound", city: "Atlantis" })
      )
    })
  )

  it.effect("fails the run with another failure, typed, or sends it back if it is told to", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(run("wipe", {}))).toBeInstanceOf(NotFound)
      expect(yield* run("wipe", {}, "return")).toEqual(
        Message.failed('Tool "wipe" failed.', { _tag: "NotFound", city: "all" })
      )
    })
  )

  it.effect("sends bad arguments back to the model, and names the field", () =>
    Effect.gen(function* () {
      const outcome = yield* run("weather", { town: "Oslo" })
      expect(outcome).toMatchObject({ _tag: "Failed" })
      expect(Message.renderOutcome(outcome!)).toContain('The arguments do not fit the parameters of "weather"')
      expect(Message.renderOutcome(outcome!)).toContain('["city"]')
    })
  )

  it.effect("fails the run with a ToolError for a result that does not fit", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(run("odd", {}))).toBeInstanceOf(Errors.ToolError)
    })
  )

  it.effect("has the errors and the needs of its tools in its type", () =>
    Effect.gen(function* () {
      const toolkit = yield* Weather
      const asDeclared: Tools.Tools<NotFound, Scale> = EffectAi.fromToolkit(toolkit)
      const returned: Tools.Tools<never, Scale> = EffectAi.fromToolkit(toolkit, { failures: "return" })
      // @ts-expect-error -- `wipe` fails a run with `NotFound`
      const none: Tools.Tools<never, Scale> = EffectAi.fromToolkit(toolkit)
      expect([asDeclared, returned, none].map((tools) => tools.size)).toEqual([3, 3, 3])
    }).pipe(Effect.provide(WeatherLive))
  )

  it("leaves out what a provider runs itself", () => {
    const of = (name: string, requiresHandler: boolean) =>
      AiTool.providerDefined({ id: `x.${name}`, toolkitName: name, providerName: name, args: {}, requiresHandler })
    const tools = EffectAi.fromToolkit({
      tools: { search: of("search", false)({}), bash: of("bash", true)({}) },
      handle: () => Effect.die("not asked")
    } as never)
    expect(tools.names).toEqual(["bash"])
  })
})

describe("tools of ours as a toolkit", () => {
  const tools = Tools.make(
    Tool.make({
      name: "weather",
      description: "The weather in a city.",
      parameters: Schema.Struct(City),
      failure: NotFound,
      annotations: { readOnly: true },
      execute: ({ city }) => (city === "Oslo" ? Effect.map(Scale, (scale) => 4 * scale) : new NotFound({ city }))
    }),
    Tool.make({
      name: "wipe",
      description: "Wipes all.",
      failure: NotFound,
      failureMode: "fail",
      execute: () => new NotFound({ city: "all" })
    })
  )
  const call = (name: string, params: unknown) =>
    Effect.gen(function* () {
      const { asked, model } = yield* provider(() => Effect.succeed([called(name, params), text("!"), finish()]))
      const toolkit = yield* EffectAi.toToolkit(tools)
      const response = yield* model.generateText({ prompt: "?", toolkit })
      return { asked, results: response.toolResults.map((part) => [part.isFailure, part.result]) }
    }).pipe(Effect.provideService(Scale, 2))

  it.effect("are run there, with outcomes that are no success as failures", () =>
    Effect.gen(function* () {
      const good = yield* call("weather", { city: "Oslo" })
      expect(good.results).toEqual([[false, 8]])
      expect(AiTool.getJsonSchema(good.asked[0]!.tools[0] as never)).toEqual(tools.get("weather")?.jsonSchema)
      expect(Context.get(good.asked[0]!.tools[0]!.annotations, AiTool.Readonly)).toBe(true)
      const bad = yield* call("weather", { city: "Atlantis" })
      expect(bad.results).toEqual([[true, expect.stringContaining('"city":"Atlantis"')]])
      expect((yield* call("weather", {})).results[0]?.[0]).toBe(true)
    })
  )

  it.effect("fail the call with what would fail a run", () =>
    Effect.gen(function* () {
      const error: AiError.AiError | NotFound | Errors.ToolError = yield* Effect.flip(call("wipe", {}))
      expect(error).toMatchObject({ _tag: "NotFound", city: "all" })
    })
  )

  it.effect("come back as they were", () =>
    Effect.gen(function* () {
      const back = EffectAi.fromToolkit(yield* EffectAi.toToolkit(tools))
      expect(Array.from(back, ({ annotations, description, name }) => ({ name, description, annotations }))).toEqual(
        Array.from(tools, ({ annotations, description, name }) => ({ name, description, annotations }))
      )
    }).pipe(Effect.provideService(Scale, 2))
  )
})

describe("an embedding model", () => {
  it.effect("of theirs gives one vector for each text, in one request", () =>
    Effect.gen(function* () {
      const asked: Array<ReadonlyArray<string>> = []
      const theirs = yield* AiEmbeddingModel.make({
        embedMany: (texts) => {
          asked.push(texts)
          return Effect.succeed(texts.map((text, index) => ({ index, embeddings: [text.length, index] })).toReversed())
        }
      })
      const ours = EffectAi.fromEmbeddingModel(theirs, { name: "lengths" })
      expect(ours.name).toBe("lengths")
      expect(yield* ours.embed(["a", "bcd"], "query")).toEqual([Float32Array.of(1, 0), Float32Array.of(3, 1)])
      expect(yield* ours.embed([], "document")).toEqual([])
      expect(asked).toEqual([["a", "bcd"]])
    })
  )

  it.effect("of theirs fails with a ModelError", () =>
    Effect.gen(function* () {
      const live = EffectAi.layerEmbedding({ name: "failing" }).pipe(
        Layer.provide(
          Layer.effect(
            AiEmbeddingModel.EmbeddingModel,
            AiEmbeddingModel.make({ embedMany: () => new AiError.MalformedInput({ module: "M", method: "m" }) })
          )
        )
      )
      const error = yield* Effect.flatMap(EmbeddingModel.EmbeddingModel, (model) => model.embed(["a"], "query")).pipe(
        Effect.provide(live),
        Effect.flip
      )
      expect(error).toMatchObject({ _tag: "ModelError", reason: "BadRequest" })
    })
  )

  it.effect("of ours embeds for one purpose there", () =>
    Effect.gen(function* () {
      const purposes: Array<string> = []
      const ours: EmbeddingModel.Service = {
        name: "lengths",
        embed: (texts, purpose) => {
          purposes.push(purpose)
          return texts.includes("bad")
            ? Effect.fail(new Errors.ModelError({ reason: "Network", message: "gone" }))
            : Effect.succeed(texts.map((text) => Float32Array.of(text.length)))
        }
      }
      const theirs = yield* EffectAi.toEmbeddingModel(ours, { purpose: "query" })
      expect(yield* theirs.embedMany(["a", "bc"])).toEqual([[1], [2]])
      expect(yield* (yield* EffectAi.toEmbeddingModel(ours)).embed("abc")).toEqual([3])
      expect(purposes).toEqual(["query", "document"])
      const exit = yield* Effect.exit(theirs.embed("bad"))
      expect(Exit.isFailure(exit)).toBe(true)
      const back = EffectAi.fromEmbeddingModel(theirs, { name: "lengths" })
      expect(yield* Effect.flip(back.embed(["bad"], "query"))).toMatchObject({ reason: "Network", message: "gone" })
    })
  )
})

// The types of both directions fit where they are used.
const _types: Layer.Layer<LanguageModel.LanguageModel, never, never> = EffectAi.layerLanguageModel().pipe(
  Layer.provide(Layer.unwrapEffect(Effect.map(ScriptedModel.make([]), (model) => model.layer)))
)
void _types
