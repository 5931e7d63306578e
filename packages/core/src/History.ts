/**
 * A conversation: messages in their order. Since a tool call holds its outcome,
 * any slice, filter or map of a history is a history; `isPaired` says what that
 * means, and `settle` makes it so for one that was left in the middle.
 */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import { CurrentRun } from "./internal/currentRun.ts"
import * as Message from "./Message.ts"

/** Messages, oldest first. */
export type History = ReadonlyArray<Message.Message>

/** For storing a history and reading it back. */
export const schema: Schema.Schema<History, ReadonlyArray<typeof Message.Message.Encoded>> = Schema.Array(
  Message.Message
)

/** No messages. */
export const empty: History = []

/** Adds a message at the end. A string is a user's message. */
export const append: {
  (message: Message.Message | string): (self: History) => History
  (self: History, message: Message.Message | string): History
} = dual(2, (self: History, message: Message.Message | string): History =>
  self.concat([typeof message === "string" ? Message.user(message) : message])
)

/** The messages from one user message up to the next: what was asked, and all that was done to answer it. */
export const exchanges = (self: History): ReadonlyArray<History> => {
  const out: Array<Array<Message.Message>> = []
  for (const message of self) {
    if (message.role === "user" || out.length === 0) out.push([message])
    else out.at(-1)!.push(message)
  }
  return out
}

/** The last `n` exchanges. */
export const takeLast: {
  (n: number): (self: History) => History
  (self: History, n: number): History
} = dual(2, (self: History, n: number): History => (n <= 0 ? empty : exchanges(self).slice(-n).flat()))

/** Changes the outcomes of all tool calls. */
export const mapToolCalls: {
  (f: (call: Message.ToolCall) => Message.ToolCall): (self: History) => History
  (self: History, f: (call: Message.ToolCall) => Message.ToolCall): History
} = dual(2, (self: History, f: (call: Message.ToolCall) => Message.ToolCall): History =>
  self.map((message) =>
    message.role === "user"
      ? message
      : { ...message, content: message.content.map((content) => (content._tag === "ToolCall" ? f(content) : content)) }
  )
)

/** Gives every call that is still pending an outcome, `Cancelled` unless said otherwise. */
export const settle = (self: History, outcome: Message.ToolOutcome = Message.cancelled): History =>
  isPaired(self) ? self : mapToolCalls(self, (call) => (call.outcome._tag === "Pending" ? { ...call, outcome } : call))

/** Whether every tool call has an outcome. */
export const isPaired = (self: History): boolean => {
  // Every run looks at all that was said before: loops are several times faster here.
  for (const message of self) {
    if (message.role === "user") continue
    for (const content of message.content) {
      if (content._tag === "ToolCall" && content.outcome._tag === "Pending") return false
    }
  }
  return true
}

/** The text of the last message of the model, or `""`. */
export const answer = (self: History): string => {
  const last = self.findLast((message) => message.role === "assistant")
  return last === undefined ? "" : Message.text(last)
}

/**
 * Reads what was said so far in the run at hand, from inside a hook or a tool: what
 * was said before the run, its input, and all that it added. Calls that are going
 * on are pending. Outside of a run, and before the run's history is settled, it is
 * empty or what the run began with.
 */
export const current: Effect.Effect<History> = Effect.map(CurrentRun, (cell) => cell?.attempt?.historyNow ?? empty)

/** Whether a value is a history. */
export const isHistory = (u: unknown): u is History => Array.isArray(u) && u.every(Message.isMessage)
