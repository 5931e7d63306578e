/**
 * What @effect/ai could not read of a reply that has been paid for.
 */
import type { MalformedOutput } from "@effect/ai/AiError"
import type * as Response from "@effect/ai/Response"
import * as Chunk from "effect/Chunk"
import * as ParseResult from "effect/ParseResult"

/**
 * The parts that an error of @effect/ai holds: it refuses a reply, or a chunk of
 * a stream, for one call of a tool that was not offered, and a text that is to
 * be JSON for not being so. Nothing if something else is wrong with it.
 */
export const unread = (
  error: MalformedOutput,
  offered: ReadonlySet<string>
): ReadonlyArray<Response.AnyPartEncoded> | undefined => {
  if (!ParseResult.isParseError(error.cause)) return undefined
  const { actual } = error.cause.issue
  if (typeof actual === "string") return [{ type: "text", text: actual }, finish("stop")]
  const parts: unknown = Chunk.isChunk(actual) ? Chunk.toReadonlyArray(actual) : actual
  if (!Array.isArray(parts)) return undefined
  // What a provider gives is typed by its own compiler; a call of an unknown tool is what no type can tell.
  const encoded = parts as ReadonlyArray<Response.AnyPartEncoded>
  return encoded.some((part) => part.type === "tool-call" && !offered.has(part.name)) ? encoded : undefined
}

/** An end for a reply whose own was lost. */
export const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }
})
