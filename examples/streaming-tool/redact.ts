/**
 * Takes a secret out of everything that tools give back: out of the pieces of
 * streamed text, also where a border between two pieces cuts it, and out of
 * whole outcomes. One hook does it for plain and for streaming tools.
 */
import { Call, Handler, type Message, type Tool } from "@heddle/core"

const mark = "[redacted]"

/** A handler that replaces `secret` by a mark. */
export const redact = (secret: string) =>
  Handler.wrapToolCall((request, next) => Call.transform(next(request), () => redaction(secret)), "redact")

/** Holds back what may be the beginning of the secret, until the next piece or the end of the call shows what it is. */
const redaction = (secret: string): Call.Transducer<Tool.ToolPart> => {
  let held = ""
  const flush = (): ReadonlyArray<Tool.ToolPart> => {
    const text = held
    held = ""
    return text === "" ? [] : [{ _tag: "Text", text }]
  }
  return {
    push: (part) => {
      switch (part._tag) {
        case "Text": {
          const pieces = (held + part.text).split(secret)
          const last = pieces.pop()!
          held = overlap(last, secret)
          const text = [...pieces, last.slice(0, last.length - held.length)].join(mark)
          return text === "" ? [] : [{ _tag: "Text", text }]
        }
        case "Progress":
          return [{ _tag: "Progress", value: clean(part.value, secret) }]
        case "Done":
          return [...flush(), { _tag: "Done", outcome: cleanOutcome(part.outcome, secret) }]
      }
    },
    flush
  }
}

/** The longest end of `text` with which `secret` begins. */
const overlap = (text: string, secret: string): string => {
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return secret.slice(0, length)
  }
  return ""
}

const cleanOutcome = (outcome: Message.ToolOutcome, secret: string): Message.ToolOutcome => {
  switch (outcome._tag) {
    case "Succeeded":
      return { ...outcome, result: clean(outcome.result, secret) }
    case "Failed":
      return {
        ...outcome,
        reason: outcome.reason.replaceAll(secret, mark),
        ...(outcome.error !== undefined && { error: clean(outcome.error, secret) })
      }
    case "Denied":
      return { ...outcome, reason: outcome.reason.replaceAll(secret, mark) }
    default:
      return outcome
  }
}

/** Cleans every text in a JSON value. */
const clean = (value: unknown, secret: string): unknown => {
  if (typeof value === "string") return value.replaceAll(secret, mark)
  if (Array.isArray(value)) return value.map((item) => clean(item, secret))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.replaceAll(secret, mark), clean(item, secret)])
  )
}
