/**
 * Counts calls and tokens, by tenant, purpose and model, while a program runs.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { ModelDecorator, OfflineModel, UsageMeter } from "@heddle/models"
 * import { Effect, Layer } from "effect"
 *
 * const Model = OfflineModel.layer.pipe(ModelDecorator.decorate(UsageMeter.metered))
 * const Live = Layer.provideMerge(Model, UsageMeter.layer)
 *
 * const program = Effect.gen(function* () {
 *   yield* Agent.run(Agent.make({ name: "helper" }), "Hello")
 *   const meter = yield* UsageMeter.UsageMeter
 *   const [usage] = yield* meter.read
 *   console.log(usage?.tenant, usage?.purpose, usage?.calls)
 * }).pipe(Effect.provide(Live))
 * await Effect.runPromise(program)
 * ```
 * ```text
 * default agent 1
 * ```
 */
import { Call, type ChatModel, Tenant } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { tellingPaid } from "./internal/paid.ts"
import type { Decorator } from "./ModelDecorator.ts"

/** What was used for one purpose, by one tenant, of one model. */
export interface Usage extends ChatModel.Usage {
  readonly tenant: string
  /** That of the requests. */
  readonly purpose: string
  /** What `decorateAs` calls it; else what the requests' options name, which need not be the model that has answered, or nothing. */
  readonly model: string | undefined
  /** All that have ended, in whatever way. */
  readonly calls: number
  /** Of these, those that failed or died. */
  readonly failed: number
  /** Of these, those that were interrupted. */
  readonly interrupted: number
}

/** Counts usage. A call is counted when it ends, with the tokens that the model has told, for replies that were taken back as well. */
export interface Service {
  /** Counts by the name in the request: what was asked for, whichever model answers. */
  readonly decorate: Decorator
  /** Counts by this name: for the `decorate` of a `ModelRegistry`, where it is that of the model that answers. */
  readonly decorateAs: (model: string) => Decorator
  /** What was used since the meter was made or emptied. */
  readonly read: Effect.Effect<ReadonlyArray<Usage>>
  /** Reads the meter and empties it, at one moment: nothing is lost or counted twice. */
  readonly drain: Effect.Effect<ReadonlyArray<Usage>>
}

/** Counts usage. */
export class UsageMeter extends Context.Tag("@heddle/models/UsageMeter")<UsageMeter, Service>() {}

/** A meter at 0. It keeps a few numbers for each tenant, purpose and model until it is emptied. */
export const make: Effect.Effect<Service> = Effect.sync(() => {
  let counts = new Map<string, Usage>()
  const read = () => Array.from(counts.values())
  const counting =
    (name: (request: ChatModel.ModelRequest) => string | undefined): Decorator =>
    (model) => ({
      call: (request) =>
        Call.fromSink((sink) =>
          Effect.flatMap(Tenant.Tenant, (tenant) => {
            const of = { tenant, purpose: request.purpose, model: name(request) }
            const key = JSON.stringify([tenant, of.purpose, of.model ?? null])
            const add = (more: Partial<Record<Counted, number>>) =>
              void counts.set(key, added(counts.get(key) ?? { ...of, ...nothing }, more))
            const paid = { inputTokens: 0, outputTokens: 0 }
            const pay = (more: ChatModel.Usage) => {
              paid.inputTokens += more.inputTokens
              paid.outputTokens += more.outputTokens
            }
            // A model may throw, too.
            return Effect.suspend(() => Call.into(tellingPaid(model.call(request), pay), sink)).pipe(
              Effect.onExit((exit) =>
                Effect.sync(() => add({ calls: 1, ...paid, ...(Exit.isFailure(exit) && badly(exit.cause)) }))
              )
            )
          })
        )
    })
  return {
    decorate: counting((request) => request.options.model),
    decorateAs: (model) => counting(() => model),
    read: Effect.sync(read),
    drain: Effect.sync(() => {
      const all = read()
      counts = new Map()
      return all
    })
  }
})

/** A meter at 0. */
export const layer: Layer.Layer<UsageMeter> = Layer.effect(UsageMeter, make)

/** For `ModelDecorator.decorate`: counts with the meter of the program. */
export const metered: Effect.Effect<Decorator, never, UsageMeter> = Effect.map(UsageMeter, (meter) => meter.decorate)

type Counted = "calls" | "failed" | "interrupted" | keyof ChatModel.Usage

const badly = (cause: Cause.Cause<unknown>): { readonly [K in "failed" | "interrupted"]?: number } =>
  Cause.isInterruptedOnly(cause) ? { interrupted: 1 } : { failed: 1 }

const nothing = { calls: 0, failed: 0, interrupted: 0, inputTokens: 0, outputTokens: 0 }

const added = (usage: Usage, more: Partial<Record<Counted, number>>): Usage => ({
  ...usage,
  calls: usage.calls + (more.calls ?? 0),
  failed: usage.failed + (more.failed ?? 0),
  interrupted: usage.interrupted + (more.interrupted ?? 0),
  inputTokens: usage.inputTokens + (more.inputTokens ?? 0),
  outputTokens: usage.outputTokens + (more.outputTokens ?? 0)
})
