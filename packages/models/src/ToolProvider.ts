/**
 * The port to tools that come from elsewhere: from a server, a plug-in, a toolkit of
 * another library. What tools there are and how one is run are two ports, so that one
 * can be had without the other.
 *
 * @example
 * ```ts
 * import { Agent, Call, Message } from "@heddle/core"
 * import { ToolProvider } from "@heddle/models"
 *
 * const clock = ToolProvider.make({
 *   name: "clock",
 *   definitions: ToolProvider.fixed([
 *     { name: "now", description: "The time.", jsonSchema: { type: "object" }, annotations: { readOnly: true } }
 *   ]),
 *   execution: { execute: () => Call.succeed(Message.succeeded("half past ten")) }
 * })
 *
 * const agent = Agent.make({
 *   name: "helper",
 *   handlers: ToolProvider.handler(clock, { prefix: "clock_", deny: ["set_*"] })
 * })
 * ```
 */
import { AgentEvent, type AgentRun, Call, Errors, Handler, Tool, Tools } from "@heddle/core"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { chosen, type Filter } from "./internal/provider/choose.ts"
import { toTools, withoutTaken } from "./internal/provider/tools.ts"

export type { Filter } from "./internal/provider/choose.ts"

// -----------------------------------------------------------------------------
// models
// -----------------------------------------------------------------------------

/**
 * - `Unavailable`: it cannot be reached, or went away.
 * - `Timeout`: it did not answer in time.
 * - `Unauthorized`: it wants other credentials.
 * - `InvalidResponse`: what it says makes no sense, or is more than is taken from it.
 * - `Rejected`: it refuses what it was asked, for example an unknown tool.
 */
export type Reason = "Unavailable" | "Timeout" | "Unauthorized" | "InvalidResponse" | "Rejected"

/** The tools of a provider could not be listed, or one could not be run. */
export class ToolProviderError extends Data.TaggedError("ToolProviderError")<{
  /** The name of the provider. */
  readonly provider: string
  readonly reason: Reason
  /** Says what happened and, where there is one, the way out. Holds no secret. */
  readonly message: string
  readonly cause?: unknown
}> {}

/** A tool of a provider, as a model is shown it. */
export interface ToolDefinition {
  /** The provider's own name of it, which no other of its tools has. It may be a name that models do not take. */
  readonly name: string
  /** A name for people. */
  readonly title?: string
  readonly description: string
  /** The JSON Schema of the arguments, an object. */
  readonly jsonSchema: object
  /** What the provider says that the tool does to the world. False unless said. */
  readonly annotations?: Partial<Tool.Annotations>
}

/** What tools there are. */
export interface Definitions {
  /** The tools now. It is asked before each model call, so one that is costly keeps what it knows until it changes. */
  readonly list: Effect.Effect<ReadonlyArray<ToolDefinition>, ToolProviderError>
  /** An element when the list may have changed. */
  readonly changes: Stream.Stream<void>
}

/** A call on its way to a provider. */
export interface ToolCall {
  /** The id that the model gave the call. */
  readonly id: string
  /** The provider's own name of the tool. */
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** How a tool is run. */
export interface Execution {
  /**
   * Runs a call. What the tool itself could not do is a `Message.failed` outcome; an
   * error is for a provider that could not run it. Interruption ends the work.
   */
  readonly execute: (call: ToolCall) => Tool.ToolRun<ToolProviderError>
}

/** Tools from elsewhere. */
export interface ToolProvider {
  readonly name: string
  readonly definitions: Definitions
  readonly execution: Execution
}

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/** A provider of its two ports. */
export const make = (provider: ToolProvider): ToolProvider => provider

/** Definitions that never change. */
export const fixed = (definitions: ReadonlyArray<ToolDefinition>): Definitions => ({
  list: Effect.succeed(definitions),
  changes: Stream.empty
})

/**
 * A provider of tools of ours, such as those of a toolkit of `@effect/ai`: each under
 * its own name, with the same results and failures. A call of another name is
 * `Rejected`. That a tool's result ends the run (`returnDirectly`) is not passed on.
 */
export const fromTools = (name: string, tools: Tools.Tools<ToolProviderError>): ToolProvider => ({
  name,
  definitions: fixed(
    Array.from(tools, ({ annotations, description, jsonSchema, name }) => ({
      name,
      description,
      jsonSchema,
      annotations
    }))
  ),
  execution: {
    execute: (call) => {
      const tool = tools.get(call.name)
      if (tool === undefined) {
        const message = `"${name}" has no tool ${JSON.stringify(call.name)}.`
        return Call.fail(new ToolProviderError({ provider: name, reason: "Rejected", message }))
      }
      // The type says what these tools fail with; a `ToolError` is what any tool may fail with.
      const run = Tool.execute({ ...call, tool, offered: tools.names }) as Tool.ToolRun<
        ToolProviderError | Errors.ToolError
      >
      // A mistake in a tool is none of the provider's.
      return Call.orElse(run, (error) => (error._tag === "ToolError" ? Call.die(error.cause) : Call.fail(error)))
    }
  }
})

// -----------------------------------------------------------------------------
// tools
// -----------------------------------------------------------------------------

/** Which tools of a provider an agent is given, and how they run. */
export interface Options<Mode extends Tool.FailureMode = Tool.FailureMode> {
  /** Stands before each name that the model sees. Letters, digits, `_` and `-`, 32 at most. */
  readonly prefix?: string
  /** The tools to give; all unless said. Globs over the provider's own names (`*` any text, `?` one character), or a predicate. */
  readonly allow?: Filter
  /** The tools to keep back, also where `allow` says otherwise. */
  readonly deny?: Filter
  /** How long a call may take; `Infinity` for as long as it likes. @default "1 minute" */
  readonly callTimeout?: Duration.DurationInput
  /** Where it goes when a provider could not run a call: back to the model (`"return"`, the default), or to the caller of the run (`"fail"`). */
  readonly failureMode?: Mode
}

/** How a run has the tools of a provider. */
export interface HandlerOptions<
  Mode extends Tool.FailureMode = Tool.FailureMode,
  Unavailable extends "fail" | "warn" = "fail" | "warn"
> extends Options<Mode> {
  /** The name of the handler. @default "toolProvider" */
  readonly name?: string
  /** What a run does when the tools cannot be listed: fail, or go on without them and with a warning. @default "fail" */
  readonly onUnavailable?: Unavailable
}

/** What a handler fails with: nothing of its own where nothing is to fail a run. */
export type Raised<Mode extends Tool.FailureMode, Unavailable extends "fail" | "warn"> =
  Tool.Raised<ToolProviderError, Mode> | (Unavailable extends "fail" ? ToolProviderError : never)

/**
 * The tools of a provider as they are now, in the order in which it lists them. Names
 * that are not allowed here are changed, see `handler`.
 */
export const tools = <const Mode extends Tool.FailureMode = "return">(
  provider: ToolProvider,
  options: Options<Mode> = {}
): Effect.Effect<Tools.Tools<Tool.Raised<ToolProviderError, Mode>>, ToolProviderError> => {
  const make = builder<Mode>(options)
  return Effect.map(provider.definitions.list, (definitions) => make(provider, definitions))
}

type Offered<Mode extends Tool.FailureMode> = Tools.Tools<Tool.Raised<ToolProviderError, Mode>>

/** What makes tools of definitions. Throws a `DefinitionError` where the options make no sense. */
const builder = <Mode extends Tool.FailureMode>(options: Options<Mode>) => {
  const { callTimeout = "1 minute", prefix = "" } = options
  if (!/^[a-zA-Z0-9_-]{0,32}$/.test(prefix)) {
    throw new Errors.DefinitionError(
      `The prefix ${JSON.stringify(prefix)} is illegal: it may hold letters, digits, \`_\` and \`-\` only, 32 at most.`
    )
  }
  const isChosen = chosen(options.allow, options.deny)
  return (provider: ToolProvider, definitions: ReadonlyArray<ToolDefinition>): Offered<Mode> => {
    const execute = (call: ToolCall) =>
      Call.around(
        provider.execution.execute(call),
        Effect.timeoutFail({ duration: callTimeout, onTimeout: () => tooLate(provider, call) })
      )
    // `failureMode` decides whether the error stays in the type.
    return toTools(definitions.filter(isChosen), {
      prefix,
      execute,
      fail: options.failureMode === "fail"
    }) as Offered<Mode>
  }
}

const tooLate = ({ name }: ToolProvider, call: ToolCall): ToolProviderError =>
  new ToolProviderError({
    provider: name,
    reason: "Timeout",
    message: `The tool ${JSON.stringify(call.name)} of "${name}" did not answer in time.`
  })

/**
 * Gives the runs of an agent the tools of a provider, or of one that an Effect gives
 * each run: a service, or a provider of its own that is released with the run. The
 * tools are looked at before each model call: one that appears or vanishes between two
 * steps is there or gone in the next request.
 *
 * A tool whose name is taken, by the agent's own or by a handler before this one, is
 * left out, and the run's result has a warning: a server cannot put itself in the
 * place of another tool. A name that is not allowed here is changed to one that is,
 * and back for the call.
 *
 * Throws a `DefinitionError` for a prefix that no tool may have.
 */
export const handler = <
  E = never,
  R = never,
  const Mode extends Tool.FailureMode = "return",
  const Unavailable extends "fail" | "warn" = "fail"
>(
  provider: ToolProvider | Effect.Effect<ToolProvider, E, R>,
  options: HandlerOptions<Mode, Unavailable> = {}
): Handler.Handler<never, E | Raised<Mode, Unavailable>, Exclude<R, Scope.Scope>> => {
  const { name = "toolProvider", onUnavailable = "fail" } = options
  const make = builder<Mode>(options)
  const hooks = (provider: ToolProvider) => {
    const warnings = new Map<string, AgentRun.Warning>()
    const warn = (error: ToolProviderError) => void warnings.set(error.message, { handler: name, error })
    let listed: ReadonlyArray<ToolDefinition> | undefined
    let made: Offered<Mode> = Tools.empty
    const current = Effect.map(provider.definitions.list, (definitions) => {
      if (definitions !== listed) made = make(provider, (listed = definitions))
      return made
    })
    const orWarned = Effect.catchAll(current, (error): Effect.Effect<Offered<Mode>, Raised<Mode, Unavailable>> =>
      onUnavailable === "warn"
        ? Effect.as(
            Effect.sync(() => warn(error)),
            Tools.empty
          )
        : // Then it is in the type.
          Effect.fail(error as Raised<Mode, Unavailable>)
    )
    const add = (there: Tools.Tools<unknown, unknown>) =>
      Effect.map(orWarned, (ours) => {
        const { free, taken } = withoutTaken(ours, there)
        for (const tool of taken) warn(hidden(provider, tool))
        return Tools.concat(there, free)
      })
    const hooks: Handler.Hooks<Raised<Mode, Unavailable>> = {
      wrapAgent: (run, next) => {
        warnings.clear()
        return AgentEvent.warnAfter(next(run), () => Effect.sync(() => Array.from(warnings.values())))
      },
      // No tools are wanted for the last word at the step limit, for example.
      wrapModelCall: (request, next) =>
        request.toolChoice === "none"
          ? next(request)
          : Call.unwrap(Effect.map(add(request.tools), (tools) => next({ ...request, tools })))
    }
    return hooks
  }
  const given = Effect.isEffect(provider) ? provider : Effect.succeed(provider)
  return Handler.declare(Handler.effect(name, Effect.map(given, hooks)), { hooks: ["wrapAgent", "wrapModelCall"] })
}

const hidden = ({ name }: ToolProvider, tool: string): ToolProviderError =>
  new ToolProviderError({
    provider: name,
    reason: "Rejected",
    message:
      `The tool ${JSON.stringify(tool)} of "${name}" is left out: there is one of that name. ` +
      `Give the provider's tools a prefix.`
  })
