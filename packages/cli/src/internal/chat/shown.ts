/** How the runs of a chat are shown. */
import * as Effect from "effect/Effect"
import { describe } from "../failure.ts"
import { Output } from "../Output.ts"
import type { Shown } from "../show/Shown.ts"
import { clean, paint, short } from "../text.ts"

/** Shows runs: text as it comes, and a line for each tool. */
export const shown: Effect.Effect<Shown, never, Output> = Effect.map(Output, ({ err, out }) => {
  let isInLine = false
  const line = (text: string) =>
    Effect.suspend(() => {
      const before = isInLine ? out.write("\n") : Effect.void
      isInLine = false
      return Effect.zipRight(before, err.write(`${paint(err, "dim", text)}\n`))
    })
  return {
    event: (event) => {
      switch (event._tag) {
        case "Text":
          isInLine = !event.text.endsWith("\n")
          return out.write(clean(event.text))
        case "ToolStarted":
          return line(`- ${event.name} ${short(JSON.stringify(event.arguments) ?? "", 60)}`)
        case "Warning":
          return line(`${event.handler}: ${short(describe(event.error), 200)}`)
        default:
          return Effect.void
      }
    },
    end: Effect.suspend(() => {
      const rest = isInLine ? out.write("\n") : Effect.void
      isInLine = false
      return rest
    })
  }
})
