/** Handlers that agent files can name. */
import type { ChatModel, Handler } from "@heddle/core"
import type { Conversations, Session } from "@heddle/memory"
import type * as Schema from "effect/Schema"

/** What a handler of an agent file may need. */
export type Services = ChatModel.ChatModel | Conversations.Conversations | Session.Session

/** A handler that files can name. */
export interface Definition {
  /** What it does, in one line. */
  readonly description: string
  /** What `options` of a file may say; plain data. Without options it is given `{}`. */
  readonly options: Schema.Schema<never, never>
  readonly make: (options: never) => Handler.Handler<never, unknown, Services>
}

/** Handlers by the names that files have for them. */
export type Registry = Readonly<Record<string, Definition>>

/** A handler that files can name. What `make` throws is a problem of the file. */
export const define = <A, I>(definition: {
  readonly description: string
  readonly options: Schema.Schema<A, I>
  readonly make: (options: A) => Handler.Handler<never, unknown, Services>
}): Definition =>
  // The options that `make` is given are those that the schema has decoded.
  definition as unknown as Definition
