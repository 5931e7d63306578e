/** A run as lines of JSON. */
import { AgentEvent } from "@heddle/core"
import * as Effect from "effect/Effect"
import type { Sheet } from "../Output.ts"
import { jsonText } from "../text.ts"
import type { Event, Shown } from "./Shown.ts"

/** An event in one line: what `AgentEvent.toJson` makes of it. A failure is its tag and message, without what it was caused by. */
export const lineOf = (event: Event): string => {
  try {
    return jsonText(AgentEvent.toJson(event))
  } catch {
    // A tool has told of its progress in what is no JSON.
    const { _tag, ...rest } = event
    const kept = Object.entries(rest).filter(([, value]) => typeof value === "string" || typeof value === "number")
    return jsonText({ _tag, ...Object.fromEntries(kept) })
  }
}

/** Shows a run as lines of JSON. */
export const showingJson = (out: Sheet): Shown => {
  let isOpen = false
  return {
    event: (event) =>
      Effect.suspend(() => {
        isOpen = event._tag !== "Completed" && event._tag !== "Failed" && event._tag !== "Cancelled"
        return out.write(`${lineOf(event)}\n`)
      }),
    // Who is interrupted reads no more events, and so does not get the last one.
    cancelled: Effect.suspend(() => {
      if (!isOpen) return Effect.void
      isOpen = false
      return out.write(`${jsonText({ _tag: "Cancelled" })}\n`)
    }),
    end: Effect.void
  }
}
