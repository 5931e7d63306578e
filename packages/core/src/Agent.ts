/**
 * An agent: instructions, tools and handlers as one immutable value. Running it
 * changes nothing in it, so one agent serves any number of runs at once.
 *
 * @example
 * ```ts
 * import { Agent, Handler, Tool, Tools } from "@heddle/core"
 * import { Schema } from "effect"
 *
 * const add = Tool.make({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
 *   execute: ({ a, b }) => a + b
 * })
 *
 * const agent = Agent.make({
 *   name: "calculator",
 *   instructions: "Calculate.",
 *   tools: Tools.make(add),
 *   handlers: Handler.instructions("Show your work.")
 * })
 *
 * const program = Agent.run(agent, "What is 1 + 2?") // needs a ChatModel
 * ```
 */
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as JSONSchema from "effect/JSONSchema"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as AgentEvent from "./AgentEvent.ts"
import type { AgentCall, AgentResult, RunOptions } from "./AgentRun.ts"
import * as Call from "./Call.ts"
import type { ChatModel } from "./ChatModel.ts"
import type { InvalidOutput, ModelError, StepLimitReached, ToolError } from "./Errors.ts"
import * as Handler from "./Handler.ts"
import type { History } from "./History.ts"
import * as Instructions from "./Instructions.ts"
import { type AgentImpl, checked, start } from "./internal/agent.ts"
import { ScopeTarget } from "./internal/currentRun.ts"
import { ready } from "./internal/enter.ts"
import type { AgentSink } from "./internal/loop.ts"
import { requireName } from "./internal/name.ts"
import { total } from "./internal/total.ts"
import * as Message from "./Message.ts"
import * as Pipeline from "./Pipeline.ts"
import { merge } from "./settings.ts"
import * as Tool from "./Tool.ts"
import * as Tools from "./Tools.ts"

const TypeId: unique symbol = Symbol.for("@heddle/core/Agent")

/**
 * An agent. `Output`: what a run answers. `E`: what it fails with. `R`: what it
 * needs, the `ChatModel` among it.
 */
export interface Agent<out Output = string, out E = never, out R = never> extends Pipeable {
  readonly [TypeId]: {
    readonly _Output: (_: never) => Output
    readonly _E: (_: never) => E
    readonly _R: (_: never) => R
  }
  readonly name: string
  readonly description: string
  readonly instructions: Instructions.Instructions
  readonly tools: Tools.Tools<unknown, unknown>
  readonly pipeline: Pipeline.Pipeline<unknown, unknown, unknown, unknown>
  readonly options: RunOptions
}

/** Any agent. */
export type Any = Agent<unknown, unknown, unknown>
/** What a run of an agent answers. */
export type Output<A> = A extends Agent<infer Output, infer _E, infer _R> ? Output : never
/** What a run of an agent fails with. */
export type Error<A> = A extends Agent<infer _O, infer E, infer _R> ? E : never
/** What a run of an agent needs. */
export type Context<A> = A extends Agent<infer _O, infer _E, infer R> ? R : never

/** What a run may fail with besides the errors of handlers and tools. */
export type RunError = ModelError | ToolError | StepLimitReached

const AgentProto = {
  [TypeId]: { _Output: (_: never) => _, _E: (_: never) => _, _R: (_: never) => _ },
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is an agent. */
export const isAgent = (u: unknown): u is Any => typeof u === "object" && u !== null && TypeId in u

const defaults: RunOptions = {
  maxSteps: 50,
  onStepLimit: "error",
  toolConcurrency: 8,
  toolChoice: "auto",
  model: {},
  metadata: {}
}

/** What an agent is made of. */
export interface Options<O, OI, TE, TR, MP, ME, MR, MH, P, E, R, H> extends Partial<RunOptions> {
  readonly name: string
  /** What the agent is good for, for whoever chooses among agents. */
  readonly description?: string
  readonly instructions?: string | Instructions.Instructions
  readonly tools?: Tools.Tools<TE, TR>
  /** Runs before `handlers`. */
  readonly middleware?: Handler.Handler<MP, ME, MR, MH>
  /** A handler or a pipeline. */
  readonly handlers?: Handler.Handler<P, E, R, H>
  /** What the answer must be: JSON that this schema decodes. */
  readonly output?: Schema.Schema<O, OI>
}

/** Makes an agent. Throws a `DefinitionError` when it has no name, or options that no run could be carried out with. */
export const make = <
  O = string,
  OI = never,
  TE = never,
  TR = never,
  MP = never,
  ME = never,
  MR = never,
  MH = never,
  P = never,
  E = never,
  R = never,
  H = never
>(
  options: Options<O, OI, TE, TR, MP, ME, MR, MH, P, E, R, H>
): Agent<
  O,
  ME | Exclude<E, MH> | Exclude<TE | RunError, MH | H> | ([OI] extends [never] ? never : InvalidOutput),
  MR | Exclude<R, MP> | Exclude<TR | ChatModel, MP | P>
> => {
  const {
    description = "",
    handlers = Pipeline.empty,
    instructions = "",
    middleware = Pipeline.empty,
    name,
    output,
    tools = Tools.empty,
    ...run
  } = options
  const pipeline = Pipeline.make(middleware as Handler.Any, handlers as Handler.Any)
  const agent: Omit<AgentImpl, keyof typeof AgentProto> = {
    name: requireName("An agent", name),
    description,
    instructions: typeof instructions === "string" ? Instructions.make(instructions, name) : instructions,
    tools,
    pipeline,
    options: checked({ ...defaults, ...run }),
    ready: ready(pipeline.handlers.map(Handler.definition), output && JSONSchema.make(output)),
    decode: output && total(Schema.decodeUnknownEither(Schema.parseJson(output)))
  }
  return Object.assign(Object.create(AgentProto), agent)
}

// -----------------------------------------------------------------------------
// running
// -----------------------------------------------------------------------------

/** What may be said of one run, over what the agent says. */
export interface CallOptions extends Partial<RunOptions> {
  /** What was said before. */
  readonly history?: History
}

/** Options of several in one. Where two say the same, the later one holds; metadata of all is kept, and so are the fields of two that have one key. */
export const options = (...all: ReadonlyArray<CallOptions>): CallOptions => {
  const merged = merge<CallOptions>(...all.toReversed())
  const metadata: Record<string, unknown> = {}
  for (const options of all) {
    for (const [key, value] of Object.entries(options.metadata ?? {})) {
      const before = Object.hasOwn(metadata, key) ? metadata[key] : undefined
      metadata[key] = isPlain(before) && isPlain(value) ? merge(value, before) : value
    }
  }
  return Object.keys(metadata).length === 0 ? merged : { ...merged, metadata }
}

const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** What a run is asked: text, or a message with files. */
export type Input = string | Message.UserMessage

/** A run as a call whose parts are events: what `run` and `stream` run, and what makes an agent a step or a tool. */
export const call = <O, E, R>(
  agent: Agent<O, E, R>,
  input: Input,
  options?: CallOptions
): AgentCall<AgentResult<O>, E, R> => callWith(agent, input, options, undefined)

const callWith = <O, E, R>(
  agent: Agent<O, E, R>,
  input: Input,
  options: CallOptions | undefined,
  change: Instructions.Change | undefined
): AgentCall<AgentResult<O>, E, R> =>
  // Inside, an agent's types are gone; `make` has them right.
  Call.fromSink<AgentEvent.AgentEvent<AgentResult<O>>, AgentResult<O>, E, R>(
    (sink) =>
      start(agent as unknown as AgentImpl, input, options, change, sink as unknown as AgentSink) as Effect.Effect<
        void,
        E,
        R
      >
  )

/** A run. It takes `Instructions.scoped` directly, which is the fast way. */
class AgentRun<O, E, R> extends Effectable.Class<AgentResult<O>, E, R> {
  readonly agent: Agent<O, E, R>
  readonly input: Input
  readonly options: CallOptions | undefined
  readonly change: Instructions.Change | undefined
  constructor(
    agent: Agent<O, E, R>,
    input: Input,
    options: CallOptions | undefined,
    change: Instructions.Change | undefined
  ) {
    super()
    this.agent = agent
    this.input = input
    this.options = options
    this.change = change
  }
  commit() {
    return Call.run(callWith(this.agent, this.input, this.options, this.change), AgentEvent.fold<AgentResult<O>>())
  }
  [ScopeTarget](change: Instructions.Change) {
    const before = this.change
    return new AgentRun(this.agent, this.input, this.options, before === undefined ? change : (i) => before(change(i)))
  }
}

/**
 * Runs an agent for its result.
 *
 * Interrupting it interrupts the model call, the tools and the agents that run
 * as tools; nothing starts after that.
 */
export const run = <O, E, R>(
  agent: Agent<O, E, R>,
  input: Input,
  options?: CallOptions
): Effect.Effect<AgentResult<O>, E, R> => new AgentRun(agent, input, options, undefined)

/**
 * Runs an agent as a stream of what happens, with back-pressure. The last
 * event says how it ended; a stream of a run that fails fails after it.
 */
export const stream = <O, E, R>(
  agent: Agent<O, E, R>,
  input: Input,
  options?: CallOptions
): Stream.Stream<AgentEvent.AgentEvent<AgentResult<O>> | Call.Reset, E, R> =>
  Call.stream(call(agent, input, options), AgentEvent.fold<AgentResult<O>>())

/** An agent as a tool of another. Its input is one text; its events are the tool's progress; what it fails with fails the run. */
export const asTool = <O, E, R>(
  agent: Agent<O, E, R>,
  options?: {
    readonly name?: string
    readonly description?: string
    readonly annotations?: Partial<Tool.Annotations>
    readonly returnDirectly?: boolean
    readonly run?: CallOptions
  }
): Tool.Tool<E, R> => {
  const { description = agent.description, name = agent.name, run, ...rest } = options ?? {}
  return Tool.fromCall({
    name,
    description,
    parameters: askParameters,
    ...rest,
    execute: ({ input }) =>
      Call.fromSink<Tool.ToolPart, Message.ToolOutcome, E, R>((sink) =>
        Call.into(
          call(agent, input, run),
          Call.sink<AgentEvent.AgentEvent<AgentResult<O>>, AgentResult<O>>(AgentEvent.fold(), sink.demand, (event) =>
            event._tag === "Completed"
              ? sink.whole(Message.succeeded(event.result.text))
              : sink.emit(Call.isReset(event) ? event : { _tag: "Progress", value: event })
          )
        )
      )
  })
}

const askParameters = Schema.Struct({ input: Schema.String.annotations({ description: "What to ask." }) })
