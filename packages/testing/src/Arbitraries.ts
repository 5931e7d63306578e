/**
 * Generators for property tests: instructions, histories, tools, handlers and
 * pipelines.
 */
import { Call, ChatModel, Handler, type History, Instructions, Message, Pipeline, Tool, Tools } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"

/** Text with what breaks naive code: braces, LaTeX, JSON, right-to-left and zero-width characters, emoji. */
export const text: FastCheck.Arbitrary<string> = FastCheck.oneof(
  FastCheck.string({ maxLength: 20 }),
  FastCheck.fullUnicodeString({ maxLength: 20 }),
  FastCheck.constantFrom(
    "{name} {{x}} ${y}",
    "\\frac{a}{b} $x^2$",
    '{"a":[1,2]}',
    "שלום \u200f\u200b world",
    "👩‍👩‍👧",
    "__proto__"
  )
)

/** Instructions of up to four sections. */
export const instructions: FastCheck.Arbitrary<Instructions.Instructions> = FastCheck.array(
  FastCheck.record({ source: FastCheck.constantFrom("", "agent", "tone", "constructor"), text }),
  { maxLength: 4 }
).map(Instructions.fromSections)

/** Names that are legal for a tool, some of them unpleasant. */
export const toolName: FastCheck.Arbitrary<string> = FastCheck.oneof(
  FastCheck.constantFrom("search", "__proto__", "constructor", "toString", "read_file"),
  FastCheck.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/)
)

/** JSON as a model gives it for arguments. */
export const json: FastCheck.Arbitrary<unknown> = FastCheck.jsonValue({ maxDepth: 2 })

/** How a call ended. */
export const outcome: FastCheck.Arbitrary<Message.ToolOutcome> = FastCheck.oneof(
  json.map(Message.succeeded),
  text.map((reason) => Message.failed(reason)),
  text.map(Message.denied),
  FastCheck.constant(Message.cancelled)
)

/** A message of the user. */
export const userMessage: FastCheck.Arbitrary<Message.UserMessage> = text.map(Message.user)

/** What a provider wants back, now and then. */
const metadata: FastCheck.Arbitrary<{ readonly metadata?: Message.Metadata }> = FastCheck.option(
  FastCheck.dictionary(FastCheck.constantFrom("anthropic", "openai"), json, { minKeys: 1 }),
  { nil: undefined, freq: 3 }
).map((metadata) => (metadata === undefined ? {} : { metadata }))

/** A message of the model: text, thoughts, and calls with outcomes. */
export const assistantMessage: FastCheck.Arbitrary<Message.AssistantMessage> = FastCheck.array(
  FastCheck.oneof(
    FastCheck.tuple(FastCheck.constantFrom("Text" as const, "Reasoning" as const), text, metadata).map(
      ([tag, text, metadata]): Message.AssistantMessage["content"][number] => ({ _tag: tag, text, ...metadata })
    ),
    FastCheck.tuple(FastCheck.uuid(), toolName, json, outcome).map(
      ([id, name, args, outcome]): Message.AssistantMessage["content"][number] =>
        Message.toolCall(id, name, args, outcome)
    )
  ),
  { minLength: 1, maxLength: 4 }
).map(Message.assistant)

/** A conversation in which every call has an outcome. */
export const history: FastCheck.Arbitrary<History.History> = FastCheck.array(
  FastCheck.tuple(userMessage, FastCheck.array(assistantMessage, { maxLength: 3 })),
  { maxLength: 4 }
).map((exchanges) => exchanges.flatMap(([user, replies]): History.History => [user, ...replies]))

/** A tool that answers with its arguments as text, at once or bit by bit. */
export const tool: FastCheck.Arbitrary<Tool.Tool> = FastCheck.tuple(toolName, text, FastCheck.boolean()).map(
  ([name, description, returnDirectly]) =>
    Tool.make({
      name,
      description,
      returnDirectly,
      parameters: Schema.Unknown,
      execute: (value) => JSON.stringify(value)
    })
)

/** Tools of different names. */
export const tools: FastCheck.Arbitrary<Tools.Tools> = FastCheck.uniqueArray(tool, {
  selector: (tool) => tool.name,
  maxLength: 4
}).map((tools) => Tools.make(...tools))

// -----------------------------------------------------------------------------
// handlers
// -----------------------------------------------------------------------------

/** The error that generated handlers fail with: always the same one, so that its identity can be checked. */
export class HandlerFailure extends Schema.TaggedError<HandlerFailure>()("HandlerFailure", {}) {}

/** The one `HandlerFailure`. */
export const handlerFailure = new HandlerFailure()

const upperCase = (part: ChatModel.ModelPart): ChatModel.ModelPart =>
  part._tag === "Text" ? { ...part, text: part.text.toUpperCase() } : part

/** What a generated handler may do. Each keeps the laws. */
const behaviours = (word: string): ReadonlyArray<Handler.Handler<never, HandlerFailure>> => [
  Handler.make(`forward-${word}`, {
    beforeAgent: (run) => run,
    wrapAgent: (run, next) => next(run),
    beforeModel: (history) => history,
    wrapModelCall: (request, next) => next(request),
    afterModel: (history) => Effect.succeed(history),
    wrapToolCall: (request, next) => next(request)
  }),
  Handler.instructions(word, `instructions-${word}`),
  Handler.mapInstructions(
    (instructions) => Effect.sync(() => Instructions.prepend(instructions, word)),
    `prepend-${word}`
  ),
  Handler.tools(
    Tool.make({ name: `tool-${word.length}`, description: word, parameters: Schema.Unknown, execute: () => word })
  ),
  Handler.mapTools((tools) => Tools.remove(tools, "slow"), `without-slow-${word}`),
  Handler.beforeModel((history) => history.slice(-3), `trim-${word}`),
  Handler.beforeModel((history) => Effect.as(Effect.yieldNow(), history), `yield-${word}`),
  Handler.afterModel(
    (history) =>
      history.map((message) => (message.role === "assistant" ? { ...message, metadata: { seen: word } } : message)),
    `mark-${word}`
  ),
  Handler.wrapModelCall(
    (request, next) => next({ ...request, instructions: Instructions.append(request.instructions, word, "call") }),
    `request-${word}`
  ),
  Handler.wrapModelCall((request, next) => Call.map(next(request), upperCase), `upper-${word}`),
  Handler.wrapModelCall((request, next) => Call.retry(next(request), { times: 2 }), `retry-${word}`),
  Handler.wrapModelCall((request, next) => Call.gate(next(request), (reply) => reply), `gate-${word}`),
  Handler.wrapModelCall(
    (request, next) => Call.orElse(next(request), () => ChatModel.reply(`instead ${word}`)),
    `fallback-${word}`
  ),
  Handler.wrapToolCall(
    (request, next) => (request.name === "slow" ? Call.succeed(Message.denied(word)) : next(request)),
    `deny-${word}`
  ),
  Handler.wrapToolCall((request, next) => Call.retry(next(request), { times: 1 }), `retry-tool-${word}`),
  Handler.beforeAgent(
    (run) =>
      Effect.as(
        Effect.acquireRelease(Effect.yieldNow(), () => Effect.yieldNow()),
        run
      ),
    `acquire-${word}`
  ),
  Handler.afterAgent(() => Effect.yieldNow(), `after-${word}`),
  Handler.onExit(() => Effect.yieldNow(), `exit-${word}`),
  Handler.effect(
    `per-run-${word}`,
    Effect.map(Ref.make(0), (calls) => ({
      wrapModelCall: (request, next) => Call.tapValue(next(request), () => Ref.update(calls, (n) => n + 1))
    }))
  ),
  Handler.beforeModel((history) => (history.length > 4 ? Effect.fail(handlerFailure) : history), `fail-${word}`),
  Handler.afterModel((history) => (history.length > 5 ? Handler.finish(`finished ${word}`) : history), `finish-${word}`)
]

/** A handler that keeps the laws. */
export const handler: FastCheck.Arbitrary<Handler.Handler<never, HandlerFailure>> = FastCheck.tuple(
  FastCheck.nat(),
  FastCheck.constantFrom("red", "green", "blue")
).map(([n, word]) => {
  const all = behaviours(word)
  return all[n % all.length]!
})

/** A pipeline of up to five handlers that keep the laws. */
export const pipeline: FastCheck.Arbitrary<Pipeline.Pipeline<never, HandlerFailure>> = FastCheck.array(handler, {
  maxLength: 5
}).map((handlers) =>
  handlers.reduce<Pipeline.Pipeline<never, HandlerFailure>>((all, next) => Pipeline.andThen(all, next), Pipeline.empty)
)
