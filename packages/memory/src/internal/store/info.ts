/**
 * What is known of a conversation, after each thing that can happen to it. Values
 * are frozen: a store can hand them out.
 */
import type { ConversationInfo, ConversationKey, Revision } from "../../Conversations.ts"

/** A read as short as this after the last access need not be noted: so reading writes little. In milliseconds. */
const unnoted = 60_000

/** A text that no generation had before. */
export const newGeneration = (): string => globalThis.crypto.randomUUID()

/** A conversation that is new, and empty. */
export const begun = (key: ConversationKey, now: number): ConversationInfo =>
  Object.freeze({
    key: Object.freeze(key),
    generation: newGeneration(),
    exchanges: 0,
    messages: 0,
    summarized: 0,
    createdAt: now,
    lastAccessedAt: now
  })

/** The conversation was read. The very same value if that need not be noted. */
export const accessed = (info: ConversationInfo, now: number): ConversationInfo =>
  now - info.lastAccessedAt < unnoted ? info : Object.freeze({ ...info, lastAccessedAt: now })

/** An exchange of so many messages was appended. */
export const appended = (info: ConversationInfo, messages: number, now: number): ConversationInfo =>
  changed(info, { exchanges: info.exchanges + 1, messages: info.messages + messages }, now)

/** All exchanges were replaced by so many, with so many messages. With 0 of both, it was cleared. */
export const replaced = (
  info: ConversationInfo,
  size: Pick<ConversationInfo, "exchanges" | "messages">,
  now: number
): ConversationInfo => changed(info, { ...size, summarized: 0, generation: newGeneration() }, now)

/** A summary through a position was written. */
export const summarized = (info: ConversationInfo, through: number, now: number): ConversationInfo =>
  changed(info, { summarized: through }, now)

/** Whether a conversation, or that there is none, is what `replace` expects. */
export const isRevision = (info: ConversationInfo | undefined, expected: Revision | undefined): boolean =>
  info === undefined || expected === undefined
    ? info === expected
    : info.generation === expected.generation && info.exchanges === expected.exchanges

/** Whether a conversation is what `summarize` expects. */
export const isSummarized = (
  info: ConversationInfo | undefined,
  expected: Pick<ConversationInfo, "generation" | "summarized">
): info is ConversationInfo =>
  info !== undefined && info.generation === expected.generation && info.summarized === expected.summarized

/** A clock that was set back does not make it older. */
const changed = (info: ConversationInfo, change: Partial<ConversationInfo>, now: number): ConversationInfo =>
  Object.freeze({ ...info, ...change, lastAccessedAt: Math.max(now, info.lastAccessedAt) })
