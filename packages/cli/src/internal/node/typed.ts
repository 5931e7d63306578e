/**
 * What was typed at a terminal, until somebody reads it: a line at a time, so that
 * what is typed ahead is there for who reads next. A paste of several lines, or of
 * many characters, is held back: a short text stands for it until the line is read.
 */
import { clean } from "../text.ts"

const pasteBegin = "\u001b[200~"
const pasteEnd = "\u001b[201~"
const ctrlC = "\u0003"

/** Has the terminal tell what is pasted, and has it leave that. */
export const tellPastes = { on: "\u001b[?2004h", off: "\u001b[?2004l" }

/** Characters of a paste that are typed as they are. */
const maxTyped = 200

/** What was typed and nobody has read. */
export class Typed {
  /** As a terminal gives it, without the pastes. */
  private waiting = ""
  /** What may be the beginning of a mark. */
  private begun = ""
  /** The paste that has not ended. */
  private pasting: string | undefined = undefined
  private readonly pastes = new Map<string, string>()

  /** Takes what the terminal gives. */
  add(keys: string): void {
    let rest = this.begun + keys
    this.begun = ""
    while (rest !== "") {
      const mark = this.pasting === undefined ? pasteBegin : pasteEnd
      const at = rest.indexOf(mark)
      const end = at < 0 ? rest.length - partOf(mark, rest) : at
      if (this.pasting === undefined) this.waiting += rest.slice(0, end)
      else this.pasting += rest.slice(0, end)
      if (at < 0) {
        this.begun = rest.slice(end)
        return
      }
      if (this.pasting === undefined) this.pasting = ""
      else {
        this.waiting += this.standingFor(this.pasting)
        this.pasting = undefined
      }
      rest = rest.slice(at + mark.length)
    }
  }

  /** Whether there is anything to take. */
  has(): boolean {
    return this.waiting !== ""
  }

  /** Takes what there is of the next line, to its end at the most; and no further than to a Tab, which `readline` completes at the end of what it is given alone. */
  take(): string {
    // oxlint-disable-next-line no-control-regex -- the keys are control characters
    const end = /[\r\n\t\u0003\u0004]/.exec(this.waiting)
    const taken = end === null ? this.waiting : this.waiting.slice(0, end.index + 1)
    this.waiting = this.waiting.slice(taken.length)
    return taken
  }

  /** Whether Ctrl-C was pressed. It takes back all that was typed before it, and is itself taken. */
  takeInterrupt(): boolean {
    const at = this.waiting.indexOf(ctrlC)
    if (at < 0) return false
    this.waiting = this.waiting.slice(at + 1)
    return true
  }

  /** Takes all, for `putBack`. */
  setAside(): string {
    const { waiting } = this
    this.waiting = ""
    return waiting
  }

  /** Puts what was set aside before what has been typed since. */
  putBack(aside: string): void {
    this.waiting = aside + this.waiting
  }

  /** A line with its pastes in it. */
  whole(line: string): string {
    return this.pastes.size === 0
      ? line
      : line.replace(/\[paste \d+: [^\]]+\]/g, (short) => this.pastes.get(short) ?? short)
  }

  private standingFor(paste: string): string {
    const text = clean(paste.replace(/\r\n?/g, "\n")).replace(/\n+$/, "")
    if (!/[\n\t]/.test(text) && text.length <= maxTyped) return text
    const lines = text.split("\n").length
    const size = lines > 1 ? `${lines} lines` : `${text.length} characters`
    const short = `[paste ${this.pastes.size + 1}: ${size}]`
    this.pastes.set(short, text)
    return short
  }
}

/** How many characters at the end of a text may be the beginning of a mark. */
const partOf = (mark: string, text: string): number => {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (mark.startsWith(text.slice(-length))) return length
  }
  return 0
}
