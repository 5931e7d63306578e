/**
 * Lines from the standard input of this process: from an editor of lines where a
 * person types them, else as they stand there.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { EventEmitter } from "node:events"
import { createInterface } from "node:readline"
import { StringDecoder } from "node:string_decoder"
import type { ReadStream, WriteStream } from "node:tty"
import type { Asked, History, Lines, Read } from "../chat/Lines.ts"
import { type CliError, failed, usage } from "../failure.ts"
import { tellPastes, Typed } from "./typed.ts"

/** Lines of this process. */
interface Opened extends Lines {
  /** Waits until all is here that was typed before the terminal was ours, and nobody types. */
  readonly quiet: Effect.Effect<void>
}

/** Opens standard input. */
export const open = (history: History): Effect.Effect<Opened, CliError, Scope.Scope> => {
  const { stderr, stdin, stdout } = process
  const screen = stderr.isTTY ? stderr : stdout
  return stdin.isTTY && screen.isTTY
    ? typed(stdin, screen, history)
    : Effect.sync(() => ({ ...written(stdin), quiet: Effect.void }))
}

const end: Read = { _tag: "End" }

/** How long nothing is typed where nobody types, in milliseconds: longer than between the repeats of a key that is held. */
const quietFor = 60

// -----------------------------------------------------------------------------
// at a terminal
// -----------------------------------------------------------------------------

/**
 * The terminal is ours for as long as the scope is open: it shows nothing by itself,
 * and Ctrl-C is a key like others. Each line has a `readline` of its own, which gets
 * the keys of this line alone.
 */
export const typed = (
  keyboard: ReadStream,
  screen: WriteStream,
  history: History
): Effect.Effect<Opened, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const decoder = new StringDecoder("utf8")
      const keys = new Typed()
      let isOver = false
      // Who is told that there is something new: the reader of a line before who waits for Ctrl-C.
      let reading: (() => void) | undefined = undefined
      let waiting: (() => void) | undefined = undefined
      const tell = () => (reading ?? waiting)?.()
      let pieces = 0
      const onData = (data: Buffer) => {
        pieces += 1
        keys.add(decoder.write(data))
        tell()
      }
      const onEnd = () => {
        isOver = true
        tell()
      }
      keyboard.setRawMode(true)
      keyboard.on("data", onData).on("end", onEnd).on("close", onEnd)
      keyboard.resume()
      screen.write(tellPastes.on)

      const read = (asked: Asked): Effect.Effect<Read> =>
        Effect.async<Read>((resume) => {
          const aside = asked.isAnswer === true ? keys.setAside() : ""
          const editor = lineOf({
            keyboard,
            screen,
            asked,
            lines: asked.isAnswer === true ? [] : history.lines(),
            onDone: (result) => {
              reading = undefined
              keys.putBack(aside)
              resume(Effect.succeed(result))
            }
          })
          reading = () => {
            // What comes after the end of the line is for who reads next.
            while (!editor.isDone() && keys.has()) editor.give(keys.take())
            if (isOver) editor.close(end)
          }
          tell()
          return Effect.sync(() => {
            if (!editor.isDone()) screen.write("\r\n")
            editor.close(end)
          })
        }).pipe(
          Effect.flatMap((result): Effect.Effect<Read> => {
            if (result._tag !== "Line") return Effect.succeed(result)
            const text = keys.whole(result.text)
            const read: Read = { _tag: "Line", text }
            return asked.isAnswer === true
              ? Effect.succeed(read)
              : Effect.as(history.add(result.text, text === result.text), read)
          })
        )

      const interrupted = Effect.async<void>((resume) => {
        waiting = () => {
          if (!keys.takeInterrupt()) return
          waiting = undefined
          resume(Effect.void)
        }
        tell()
        return Effect.sync(() => (waiting = undefined))
      })

      const quiet = Effect.async<void>((resume) => {
        let timer: NodeJS.Timeout | undefined = undefined
        let look: NodeJS.Immediate | undefined = undefined
        const wait = () => {
          const before = pieces
          timer = setTimeout(() => {
            // After a time in which the process was busy, what has come is read only now.
            look = setImmediate(() => (pieces === before ? resume(Effect.void) : wait()))
          }, quietFor)
        }
        wait()
        return Effect.sync(() => {
          clearTimeout(timer)
          clearImmediate(look)
        })
      })

      const close = Effect.sync(() => {
        keyboard.off("data", onData).off("end", onEnd).off("close", onEnd)
        keyboard.setRawMode(false)
        keyboard.pause()
        screen.write(tellPastes.off)
      })
      return { lines: { isTerminal: true, read, interrupted, quiet } satisfies Opened, close }
    }),
    ({ close }) => close
  ).pipe(Effect.map(({ lines }) => lines))

/** The editor of one line. */
const lineOf = (options: {
  readonly keyboard: ReadStream
  readonly screen: WriteStream
  readonly asked: Asked
  readonly lines: ReadonlyArray<string>
  readonly onDone: (result: Read) => void
}) => {
  const { asked, keyboard, lines, onDone, screen } = options
  let isDone = false
  // Keys are given to the editor at once, so that it is known when the line has ended: a stream would take its time.
  const keys = Object.assign(new EventEmitter(), {
    resume: () => undefined,
    pause: () => undefined,
    // For Ctrl-Z alone: when the line is read, the terminal stays ours.
    setRawMode: (isRaw: boolean) => {
      if (!isDone) keyboard.setRawMode(isRaw)
    }
  })
  const editor = createInterface({
    // All that `readline` uses of a stream when it reads from a terminal.
    input: keys as unknown as ReadStream,
    output: screen,
    terminal: true,
    prompt: asked.prompt,
    history: [...lines],
    historySize: lines.length + 1,
    completer: (line: string): [Array<string>, string] => {
      const { candidates, of } = asked.complete?.(line) ?? { candidates: [], of: line }
      return [[...candidates], of]
    }
  })
  const close = (result: Read) => {
    if (isDone) return
    isDone = true
    editor.close()
    onDone(result)
  }
  editor
    .on("line", (text) => close({ _tag: "Line", text }))
    .on("SIGINT", () => {
      const { line } = editor
      // To the end of what was typed, which may have several rows.
      editor.write(null, { ctrl: true, name: "e" })
      screen.write("^C\r\n")
      close({ _tag: "Interrupt", line })
    })
    .on("close", () => {
      if (!isDone) screen.write("\r\n")
      close(end)
    })
  editor.prompt()
  return { give: (text: string) => keys.emit("data", Buffer.from(text)), isDone: () => isDone, close }
}

// -----------------------------------------------------------------------------
// as they stand there
// -----------------------------------------------------------------------------

/** The lines of a text that is not typed. */
export const written = (input: AsyncIterable<Buffer>): Lines => {
  const all = linesOf(input)
  return {
    isTerminal: false,
    read: () =>
      Effect.map(
        Effect.tryPromise({
          try: () => all.next(),
          catch: (cause) =>
            cause instanceof NotText
              ? usage(`Line ${cause.line} of standard input is not UTF-8.`)
              : failed("Standard input cannot be read.", cause)
        }),
        (next): Read => (next.done === true ? end : { _tag: "Line", text: next.value })
      ),
    interrupted: Effect.never
  }
}

class NotText extends Error {
  readonly line: number
  constructor(line: number) {
    super()
    this.line = line
  }
}

/** The lines of what is read, which is UTF-8. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let line = 0
  const decoded = (bytes: Uint8Array): string => {
    line += 1
    try {
      return decoder.decode(bytes).replace(/\r$/, "")
    } catch {
      throw new NotText(line)
    }
  }
  let rest: Array<Uint8Array> = []
  for await (const piece of input) {
    let from = 0
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
      yield decoded(Buffer.concat([...rest, piece.subarray(from, at)]))
      rest = []
      from = at + 1
    }
    rest.push(piece.subarray(from))
  }
  const last = Buffer.concat(rest)
  if (last.length > 0) yield decoded(last)
}
