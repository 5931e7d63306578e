/** Where something stands in a text. */

/** Where something stands in a text, for a person. */
export interface Place {
  /** From 1. */
  readonly line: number
  /** In characters, from 1. A mark of the byte order is none. */
  readonly column: number
}

/** What tells lines and columns of offsets in a text. */
export const places = (text: string): ((offset: number) => Place) => {
  let starts: ReadonlyArray<number> | undefined
  return (offset) => {
    starts ??= startsOf(text)
    const line = lineAt(starts, offset)
    const before = text.slice(starts[line - 1], offset)
    // What is two units for the computer may be one character for a person.
    return { line, column: Array.from(before.startsWith("\ufeff") ? before.slice(1) : before).length + 1 }
  }
}

const startsOf = (text: string): ReadonlyArray<number> => {
  const starts = [0]
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1)
  return starts
}

/** The last line that starts at the offset or before. */
const lineAt = (starts: ReadonlyArray<number>, offset: number): number => {
  let [low, high] = [0, starts.length]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle]! <= offset) low = middle
    else high = middle
  }
  return low + 1
}
