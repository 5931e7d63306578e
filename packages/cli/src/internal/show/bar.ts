/** A bar that fills, in one line of a terminal. */
import * as Effect from "effect/Effect"
import type { Sheet } from "../Output.ts"
import { paint } from "../text.ts"

/** A bar. */
export interface Bar {
  /** Shows how far it is, from 0 to 1, with some words behind it where there is room. */
  readonly at: (fraction: number, words: string) => Effect.Effect<void>
  /** Takes the bar away, so that something else can be written. The next `at` draws it anew. */
  readonly away: Effect.Effect<void>
}

const longest = 30

/** How a bar looks, no wider than the sheet. */
export const barText = (fraction: number, words: string, sheet: Pick<Sheet, "columns" | "colours">): string => {
  const done = Math.min(1, Math.max(0, fraction))
  const percent = `${Math.floor(done * 100)} %`.padStart(5)
  // The last column stays free: some terminals begin a new line when it is written.
  const room = sheet.columns() - 1 - percent.length
  const width = Math.max(0, Math.min(longest, room - 1))
  const full = Math.round(done * width)
  const said = room - width - words.length - 2 < 0 ? "" : `  ${words}`
  return `${paint(sheet, "cyan", "█".repeat(full))}${"░".repeat(width - full)} ${percent}${paint(sheet, "dim", said)}`
}

/** A bar on a sheet; nothing where nobody looks at it. */
export const bar = (sheet: Sheet): Bar => {
  let drawn = ""
  return {
    at: (fraction, words) =>
      Effect.suspend(() => {
        const text = barText(fraction, words, sheet)
        if (!sheet.isTerminal || text === drawn) return Effect.void
        drawn = text
        return sheet.write(`\r\u001b[K${text}`)
      }),
    away: Effect.suspend(() => {
      if (drawn === "") return Effect.void
      drawn = ""
      return sheet.write("\r\u001b[K")
    })
  }
}
