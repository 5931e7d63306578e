/** What several of these tests need. */
import { Agent, AgentEvent, type AgentRun, Call, Handler, Message, Tool } from "@heddle/core"
import { Data, Effect, type Exit, Schema, Stream } from "effect"

type Event = AgentEvent.AgentEvent | Call.Reset

/** Reads a stream to its end. The elements are kept when it fails. */
export const readAll = <A, E, R>(
  stream: Stream.Stream<A, E, R>
): Effect.Effect<{ readonly elements: ReadonlyArray<A>; readonly exit: Exit.Exit<void, E> }, never, R> =>
  Effect.suspend(() => {
    const elements: Array<A> = []
    return Effect.map(
      Effect.exit(Stream.runForEach(stream, (element) => Effect.sync(() => elements.push(element)))),
      (exit) => ({ elements, exit })
    )
  })

/** Runs an agent and hands every event to `see` at once, also those that come after an interruption. */
export const watch = <E, R>(
  call: AgentRun.AgentCall<AgentRun.AgentResult<unknown>, E, R>,
  see: (event: Event) => void
): Effect.Effect<void, E, R> =>
  Call.into(
    call,
    Call.sink<AgentEvent.AgentEvent, AgentRun.AgentResult>(AgentEvent.fold(), "live", (event) => {
      see(event)
    })
  )

/** Runs an agent for how it ends and all its events. */
export const events = <O, E, R>(agent: Agent.Agent<O, E, R>, input: Agent.Input = "go", options?: Agent.CallOptions) =>
  Effect.map(readAll(Agent.stream(agent, input, options)), ({ elements, exit }) => ({ events: elements, exit }))

/** The events of one kind. */
export const only = <T extends Event["_tag"]>(
  all: ReadonlyArray<Event>,
  tag: T
): ReadonlyArray<Extract<Event, { readonly _tag: T }>> =>
  all.filter((event): event is Extract<Event, { readonly _tag: T }> => event._tag === tag)

/** The outcomes of all calls in a history. */
export const outcomes = (history: ReadonlyArray<Message.Message>) =>
  history.flatMap((message) => Message.toolCalls(message).map((call) => call.outcome))

/** A failure with an identity. */
export class Oops extends Data.TaggedError("Oops")<{ readonly from: string }> {}

/** A tool that answers with its text. */
export const echo = Tool.make({
  name: "echo",
  description: "Gives back its text.",
  parameters: Schema.Struct({ text: Schema.String }),
  execute: ({ text }) => text
})

/** Calls `echo` once, then answers; whatever is called again gets the same reply again. */
export const onceEcho = (request: { readonly history: ReadonlyArray<Message.Message> }) =>
  request.history.some((message) => message.role === "assistant")
    ? "done"
    : { text: "let me see", calls: [{ tool: "echo", arguments: { text: "hello" } }] }

/** A handler of one hook that the types would not let through. */
export const untyped = (hook: Handler.HookName, f: unknown, name = "culprit"): Handler.Handler =>
  Handler.fromDefinition({ name, source: { _tag: "Stateless", hooks: { [hook]: f } as Handler.AnyHooks }, info: {} })
