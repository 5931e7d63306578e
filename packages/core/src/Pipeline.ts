/**
 * Handlers in their order. A monoid: `empty`, `andThen`; how handlers are
 * grouped makes no difference.
 *
 * @example
 * ```ts
 * import { Handler, Pipeline } from "@heddle/core"
 *
 * const pipeline = Pipeline.make(
 *   Handler.instructions("Be brief."),
 *   Handler.afterAgent((result) => console.log(result.steps))
 * )
 * console.log(Pipeline.explain(pipeline))
 * ```
 */
import { dual } from "effect/Function"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import { DefinitionError } from "./Errors.ts"
import * as Handler from "./Handler.ts"
import { observe as observeHandler, type Seen } from "./internal/observe.ts"

/**
 * Handlers in their order. `Provides`: the services that they provide to the
 * tools and the model. `E`: what they fail with. `R`: what they need.
 * `Handles`: the errors of tools and model that they answer.
 */
export interface Pipeline<out Provides = never, out E = never, out R = never, out Handles = never>
  extends Pipeable, Handler.Handler<Provides, E, R, Handles> {
  readonly handlers: ReadonlyArray<Handler.Any>
}

class PipelineImpl implements Pipeline<unknown, unknown, unknown, unknown> {
  declare readonly [Handler.TypeId]: Handler.Any[typeof Handler.TypeId]
  readonly handlers: ReadonlyArray<Handler.Any>
  constructor(handlers: ReadonlyArray<Handler.Any>) {
    this.handlers = handlers
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is a pipeline. */
export const isPipeline = (u: unknown): u is Pipeline<unknown, unknown, unknown, unknown> => u instanceof PipelineImpl

/**
 * Adds handlers one by one: what one needs is taken from what those before it
 * provide; what one fails with is answered by those before it that handle it.
 */
export type Fold<Hs extends ReadonlyArray<unknown>, P = never, E = never, R = never, H = never> = Hs extends readonly [
  Handler.Handler<infer P1, infer E1, infer R1, infer H1>,
  ...infer Rest
]
  ? Fold<Rest, P | P1, E | Exclude<E1, H>, R | Exclude<R1, P>, H | H1>
  : number extends Hs["length"]
    ? // Of an array nobody knows the order: it provides and answers nothing for sure.
      Hs extends ReadonlyArray<Handler.Handler<infer _P, infer E1, infer R1, infer _H>>
      ? Pipeline<P, E | E1, R | R1, H>
      : Pipeline<P, E, R, H>
    : Pipeline<P, E, R, H>

/** No handlers. */
export const empty: Pipeline = new PipelineImpl([]) as unknown as Pipeline

/** A pipeline of handlers and pipelines, in their order. */
export const make = <const Hs extends ReadonlyArray<Handler.Any>>(...handlers: Hs): Fold<Hs> =>
  new PipelineImpl(handlers.flatMap(flat)) as unknown as Fold<Hs>

const flat = (part: Handler.Any): ReadonlyArray<Handler.Any> => {
  if (isPipeline(part)) return part.handlers
  if (Handler.isHandler(part)) return [part]
  throw new DefinitionError(`A pipeline is made of handlers, and ${String(part)} is none.`)
}

/** Puts `that` behind `self`. */
export const andThen: {
  <P2, E2, R2, H2>(
    that: Handler.Handler<P2, E2, R2, H2>
  ): <P, E, R, H>(self: Handler.Handler<P, E, R, H>) => Pipeline<P | P2, E | Exclude<E2, H>, R | Exclude<R2, P>, H | H2>
  <P, E, R, H, P2, E2, R2, H2>(
    self: Handler.Handler<P, E, R, H>,
    that: Handler.Handler<P2, E2, R2, H2>
  ): Pipeline<P | P2, E | Exclude<E2, H>, R | Exclude<R2, P>, H | H2>
} = dual(2, (self: Handler.Any, that: Handler.Any) => make(self, that))

/** One run of one hook, in milliseconds. `self` leaves out what ran inside `next`. */
export type { Seen } from "./internal/observe.ts"

/**
 * The same pipeline, telling how long each hook took. For timelines and meters;
 * a pipeline that is not observed pays nothing.
 */
export const observe: {
  (see: (seen: Seen) => void): <P, E, R, H>(self: Handler.Handler<P, E, R, H>) => Pipeline<P, E, R, H>
  <P, E, R, H>(self: Handler.Handler<P, E, R, H>, see: (seen: Seen) => void): Pipeline<P, E, R, H>
} = dual(2, (self: Handler.Any, see: (seen: Seen) => void) =>
  make(...flat(self).map((handler) => Handler.fromDefinition(observeHandler(Handler.definition(handler), see))))
)

/** What a pipeline does, for a person to read: each handler, how long it lives, its hooks, what it provides, needs and may fail with. */
export const explain = (self: Handler.Any): string => {
  const handlers = flat(self).map(Handler.definition)
  if (handlers.length === 0) return "An empty pipeline: the agent runs as it is."
  const width = String(handlers.length).length
  return handlers
    .flatMap((handler, i) => {
      const [first, ...details] = describe(handler)
      return [
        `${String(i + 1).padStart(width)}. ${first}`,
        ...details.map((detail) => `${" ".repeat(width + 2)}${detail}`)
      ]
    })
    .join("\n")
}

const lifetimes: Record<Handler.Source["_tag"], string> = {
  Stateless: "stateless",
  PerRun: "built for each run",
  Service: "built once, by a layer",
  Provide: "built for each run"
}

const describe = ({ info, name, source }: Handler.Definition): ReadonlyArray<string> => {
  const list = (label: string, values: ReadonlyArray<string> | undefined) =>
    values && values.length > 0 ? [`${label}: ${values.join(", ")}`] : []
  return [
    `${name} (${lifetimes[source._tag]})`,
    ...(source._tag === "Stateless"
      ? list(
          "hooks",
          Handler.hookNames.filter((hook) => source.hooks[hook] !== undefined)
        )
      : source._tag === "Provide"
        ? list("provides", [source.tag.key])
        : info.hooks === undefined
          ? ["hooks: known when it is built"]
          : list("hooks", info.hooks)),
    ...list("needs", info.needs),
    ...list("may fail with", info.fails),
    ...list("answers", info.handles)
  ]
}
