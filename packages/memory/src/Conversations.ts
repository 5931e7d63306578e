/**
 * Conversations that outlive a run: exchanges in the order in which they were had,
 * under a tenant, a session, and either the session's main conversation or an
 * agent's own.
 *
 * An exchange is what one run added: what was asked, and all that was done to
 * answer it. It is appended once, whole, in a number of writes that does not depend
 * on how long the conversation is, and gets the next position, from 1. Positions
 * have no gaps. Clearing or replacing a conversation begins a new generation of it.
 *
 * `layerMemory` keeps conversations for as long as the program runs, and
 * `@heddle/memory/keyValueStore` in a folder, or wherever a key-value store keeps
 * what it has. `@heddle/memory/testing` has the rules that every store keeps, as
 * tests, and `@heddle/memory/store` what stores are made of.
 *
 * @example
 * ```ts
 * import { Message } from "@heddle/core"
 * import { Conversations } from "@heddle/memory"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const conversations = yield* Conversations.Conversations
 *   const key = Conversations.main("ada")
 *   yield* conversations.append(key, { agent: "helper", messages: [Message.user("Hi"), Message.assistant("Hello!")] })
 *   return yield* conversations.read(key, { last: 10 })
 * })
 * const { exchanges } = await Effect.runPromise(Effect.provide(program, Conversations.layerMemory()))
 * console.log(exchanges.length, exchanges[0]?.position) // 1 1
 * ```
 */
import { type History, Tenant } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { memory } from "./internal/memoryConversations.ts"
import type { ConversationChanged, ConversationsUnavailable } from "./MemoryErrors.ts"

/** Whose conversation it is. Any text is a tenant, a session or an agent, but for the empty one. */
export interface ConversationKey {
  readonly tenant: string
  readonly session: string
  /** Whose own conversation it is. Missing for the main conversation of the session. */
  readonly agent?: string
}

/** The main conversation of a session. */
export const main = (session: string, tenant: string = Tenant.defaultTenant): ConversationKey => ({ tenant, session })

/** An agent's own conversation in a session. */
export const own = (session: string, agent: string, tenant: string = Tenant.defaultTenant): ConversationKey => ({
  tenant,
  session,
  agent
})

/**
 * An exchange that is to be kept: plain JSON, and one message at least. Calls of
 * tools without an outcome are kept as cancelled. What is `undefined` in it may be
 * missing when it is read.
 */
export interface NewExchange {
  /** Who answered; not empty. */
  readonly agent: string
  readonly messages: History.History
}

/** An exchange that is kept. */
export interface Exchange extends NewExchange {
  /** Its place in the conversation, from 1. */
  readonly position: number
  /** When it was appended, or put in the place of others, in milliseconds since the epoch. */
  readonly at: number
}

/** What stands for the first exchanges of a conversation. They are kept as they are. */
export interface Summary {
  readonly text: string
  /** The position of the last exchange that it covers; it covers all before as well. */
  readonly through: number
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
}

/** What is known of a conversation. */
export interface ConversationInfo extends Revision {
  readonly key: ConversationKey
  /** In milliseconds since the epoch. */
  readonly createdAt: number
  /** When it was read or changed last, in milliseconds since the epoch; reading within a minute of that need not be noted. Listing is no reading. */
  readonly lastAccessedAt: number
  readonly messages: number
  /** How many exchanges its summary covers; 0 without one. */
  readonly summarized: number
}

/** A state of a conversation, to compare with what is there now. */
export interface Revision {
  /** Another one, which none has had before, each time that the conversation is begun, cleared or replaced. */
  readonly generation: string
  /** How many there are: the position of the last. */
  readonly exchanges: number
}

/** A conversation as it was at one moment. */
export interface Conversation {
  /** Missing if there is no such conversation. */
  readonly info?: ConversationInfo
  readonly summary?: Summary
  /** Those that were asked for, oldest first. */
  readonly exchanges: ReadonlyArray<Exchange>
}

/**
 * Which exchanges: all without it; the `last` ones, or the last ones before a
 * position; the `first` ones, or the first ones after a position. Counts and
 * positions are whole numbers from 0 up, or `Infinity`; no exchange need be there.
 */
export type Range =
  { readonly last: number; readonly before?: number } | { readonly first: number; readonly after?: number }

/** Which conversations: those of a tenant, or of one of its sessions. */
export interface ListOptions {
  /** @default "default" */
  readonly tenant?: string
  readonly session?: string
  /** Goes on after this one, which need not be there any more. */
  readonly after?: Pick<ConversationKey, "session" | "agent">
  /** A whole number from 1 up, or `Infinity`. */
  readonly limit: number
}

/** A page of conversations, in the order of sessions, then of agents, the main conversation first; by code unit or code point, not by language. */
export interface ConversationPage {
  readonly conversations: ReadonlyArray<ConversationInfo>
  /** What to give as `after` for the next page. Missing on the last. */
  readonly next?: Pick<ConversationKey, "session" | "agent">
}

/**
 * A store of conversations. Each operation happens at one moment: others see all of
 * it or nothing. What is done to an exchange after it was appended, or after it was
 * read, does not reach the store. What makes no sense (an empty text in a key, a
 * count below 0, no messages) is a mistake in the program: the effect dies with a
 * `DefinitionError`.
 */
export interface Service {
  /** Reads a conversation. It is not made by asking. */
  readonly read: (key: ConversationKey, range?: Range) => Effect.Effect<Conversation, ConversationsUnavailable>
  /** Adds an exchange at the end, and gives what is then known of the conversation. */
  readonly append: (
    key: ConversationKey,
    exchange: NewExchange
  ) => Effect.Effect<ConversationInfo, ConversationsUnavailable>
  /**
   * Puts exchanges in the place of all that there are, the summary with them, if the
   * conversation is still as `expected`: if there is none, where that is `undefined`.
   * Fails with `ConversationChanged`, and changes nothing, if it is not. Without
   * exchanges it is empty then, as after `clear`.
   */
  readonly replace: (
    key: ConversationKey,
    exchanges: ReadonlyArray<NewExchange>,
    expected: Revision | undefined
  ) => Effect.Effect<ConversationInfo, ConversationsUnavailable | ConversationChanged>
  /**
   * Puts a summary in the place of the one there is, if the generation and the
   * number of exchanges covered are still as `expected`. What was appended in the
   * meantime is no obstacle. Fails with `ConversationChanged`, and changes nothing,
   * otherwise. Dies with a `DefinitionError` if `through` is no position that the
   * conversation has.
   */
  readonly summarize: (
    key: ConversationKey,
    summary: Pick<Summary, "text" | "through">,
    expected: Pick<ConversationInfo, "generation" | "summarized">
  ) => Effect.Effect<ConversationInfo, ConversationsUnavailable | ConversationChanged>
  /** Drops the exchanges and the summary. Says whether there was such a conversation; it stays. */
  readonly clear: (key: ConversationKey) => Effect.Effect<boolean, ConversationsUnavailable>
  /** Deletes a conversation. Says whether there was one. */
  readonly remove: (key: ConversationKey) => Effect.Effect<boolean, ConversationsUnavailable>
  readonly list: (options: ListOptions) => Effect.Effect<ConversationPage, ConversationsUnavailable>
}

/** A store of conversations. */
export class Conversations extends Context.Tag("@heddle/memory/Conversations")<Conversations, Service>() {}

/** How much `layerMemory` keeps. */
export interface MemoryOptions {
  /**
   * Beyond it, the conversation that was not read or changed for the longest time is
   * dropped. A conversation is kept whole, however long it is. @default 1000
   */
  readonly maxConversations?: number
}

/**
 * A store in memory, a new one each time that the layer is built: provide it where
 * the program begins, not to each run. The bound is a whole number from 1 up, or
 * `Infinity`; throws a `DefinitionError` for others.
 */
export const layerMemory = (options?: MemoryOptions): Layer.Layer<Conversations> => {
  const maxConversations = whole("maxConversations", options?.maxConversations ?? 1000, 1)
  return Layer.sync(Conversations, () => memory(maxConversations))
}
