/**
 * Writing for a person at a terminal.
 */

/** Where lines go, and how wide they may be. */
export interface Terminal {
  readonly write: (text: string) => void
  readonly columns: number
  readonly colours: boolean
}

/** The terminal of this process. Colours are for those who look at a screen and want them. */
export const fromProcess = (out: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Terminal => ({
  write: (text) => void out.write(text),
  columns: Math.max(40, Math.min(100, out.columns ?? 80)),
  colours: out.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"
})

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

/** Paints a text, where there are colours. */
export const paint = (terminal: Terminal, colour: keyof typeof codes, text: string): string =>
  terminal.colours ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text

/** Takes out what would steer the terminal: a document is not to do that. */
export const clean = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")

/** One line of a text, cut to a length. */
export const short = (text: string, length: number): string => {
  const line = clean(text).replace(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

/** Writes text that comes in pieces, wrapped at the width of the terminal and indented. */
export const wrapping = (terminal: Terminal, indent = "  ") => {
  let column = 0
  let held = ""
  const word = (text: string) => {
    if (text === "") return
    if (column > 0 && column + 1 + text.length > terminal.columns) {
      terminal.write("\n")
      column = 0
    }
    terminal.write(column === 0 ? indent + text : ` ${text}`)
    column += column === 0 ? indent.length + text.length : 1 + text.length
  }
  const push = (piece: string) => {
    const lines = (held + clean(piece)).split("\n")
    lines.forEach((line, i) => {
      const words = line.split(/[ \t]+/)
      // The last word may go on in the next piece.
      held = i === lines.length - 1 ? (words.pop() ?? "") : ""
      words.forEach(word)
      if (i < lines.length - 1) {
        terminal.write("\n")
        column = 0
      }
    })
  }
  const end = () => {
    word(held)
    held = ""
    if (column > 0) terminal.write("\n")
    column = 0
  }
  return { push, end }
}
