/**
 * The errors of conversations and memory.
 */
import { causeText } from "@heddle/core/cause"
import * as Data from "effect/Data"
import type { ConversationKey } from "./Conversations.ts"

/** The conversations could not be read or written. `cause` is what the store says. */
export class ConversationsUnavailable extends Data.TaggedError("ConversationsUnavailable")<{
  readonly operation: "read" | "append" | "replace" | "summarize" | "clear" | "remove" | "list"
  /** Missing for `list`. */
  readonly key?: ConversationKey
  readonly cause: unknown
}> {
  override get message(): string {
    const of = this.key === undefined ? "" : ` for ${keyText(this.key)}`
    return `The conversations are unavailable${of} (${this.operation}): ${causeText(this.cause)}`
  }
}

/** A conversation is no longer what it was when it was read. */
export class ConversationChanged extends Data.TaggedError("ConversationChanged")<{
  readonly key: ConversationKey
}> {
  override get message(): string {
    return `The conversation of ${keyText(this.key)} has changed since it was read.`
  }
}

/** What was said of context and memory makes no sense, in all these points. */
export class InvalidMemory extends Data.TaggedError("InvalidMemory")<{
  /** Each says where, and what is expected there. */
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The memory is not configured right:\n${this.problems.map((problem) => `- ${problem}`).join("\n")}`
  }
}

const keyText = ({ agent, session, tenant }: ConversationKey): string =>
  `${agent === undefined ? "" : `agent "${agent}" in `}session "${session}" of tenant "${tenant}"`
