/**
 * The command in a folder of its own, as a test runs it: with what it wrote and the
 * status that it ended with.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import type { ModelProvider } from "@heddle/models"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { onTestFinished } from "vitest"
import { HandlerRegistry } from "../src/index.ts"
import { Asking, NobodyToAsk } from "../src/internal/Asking.ts"
import { LineReader, type Service as LineReaderService } from "../src/internal/chat/Lines.ts"
import { Environment } from "../src/internal/Environment.ts"
import { Extensions } from "../src/internal/Extensions.ts"
import { main } from "../src/internal/main.ts"
import { Output, type Sheet } from "../src/internal/Output.ts"
import { providers } from "../src/internal/services.ts"

/** What a command is run with. */
export interface Options {
  /** The folder in which it is called, from the world's on. */
  readonly in?: string
  readonly variables?: Readonly<Record<string, string>>
  /** What stands on standard input. */
  readonly input?: string | Uint8Array
  /** Answers of the person at the terminal; without them there is nobody. */
  readonly answers?: ReadonlyArray<string>
  /** How long they think before each, in milliseconds. */
  readonly thinks?: number
  /** Where a chat has its lines from; without it there are none. */
  readonly lines?: LineReaderService
  /** Is given the questions. */
  readonly asked?: Array<string>
  readonly providers?: ReadonlyArray<ModelProvider.ModelProvider>
  readonly handlers?: HandlerRegistry.Registry
  /** Whether standard output and error are terminals, and how large. */
  readonly terminal?: { readonly columns: number; readonly rows?: number; readonly colours?: boolean }
}

/** What came of it. */
interface Result {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** Folders for a test: a project in which the command is called, and a home. */
export interface World {
  /** The path of the project. */
  readonly project: string
  readonly home: string
  /** Writes a file, by its path from the project on, or from the home on with `~/`. */
  readonly write: (file: string, text: string | Uint8Array) => string
  /** Runs the command. */
  readonly heddle: (args: ReadonlyArray<string>, options?: Options) => Promise<Result>
}

const sheet = (pieces: Array<string>, terminal: Options["terminal"]): Sheet => ({
  write: (text) => Effect.sync(() => void pieces.push(text)),
  isTerminal: terminal !== undefined,
  colours: terminal?.colours ?? false,
  columns: () => terminal?.columns ?? 80,
  rows: () => terminal?.rows ?? 24
})

/** Makes folders that are gone when the test is. */
export const makeWorld = (files: Readonly<Record<string, string>> = {}): World => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "heddle-cli-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const project = path.join(root, "project")
  const home = path.join(root, "home")
  mkdirSync(project)
  mkdirSync(home)
  const write = (file: string, text: string | Uint8Array): string => {
    const at = file.startsWith("~/") ? path.join(home, file.slice(2)) : path.join(project, file)
    mkdirSync(path.dirname(at), { recursive: true })
    writeFileSync(at, text)
    return at
  }
  for (const [file, text] of Object.entries(files)) write(file, text)

  const heddle = (args: ReadonlyArray<string>, options: Options = {}): Promise<Result> => {
    const out: Array<string> = []
    const err: Array<string> = []
    const answers = [...(options.answers ?? [])]
    const world = Layer.mergeAll(
      NodeContext.layer,
      Layer.succeed(Output, { out: sheet(out, options.terminal), err: sheet(err, options.terminal) }),
      Layer.succeed(Environment, {
        cwd: path.join(project, options.in ?? "."),
        home,
        // Where nothing listens, so that no model of this machine answers.
        variables: { OLLAMA_HOST: "http://127.0.0.1:9", ...options.variables },
        input: {
          isTerminal: options.input === undefined,
          read: Effect.succeed(
            typeof options.input === "string"
              ? new TextEncoder().encode(options.input)
              : (options.input ?? new Uint8Array())
          )
        }
      }),
      Layer.succeed(Asking, {
        ask: (question) =>
          Effect.suspend(() => {
            options.asked?.push(question)
            const answer = answers.shift()
            return answer === undefined
              ? new NobodyToAsk({ message: "There is nobody to ask." })
              : Effect.delay(Effect.succeed(answer), options.thinks ?? 0)
          })
      }),
      Layer.succeed(
        LineReader,
        options.lines ?? {
          open: () =>
            Effect.succeed({
              isTerminal: false,
              read: () => Effect.succeed({ _tag: "End" }),
              interrupted: Effect.never
            })
        }
      ),
      Layer.succeed(Extensions, {
        handlers: { ...HandlerRegistry.builtIn, ...options.handlers },
        providers: [...providers, ...(options.providers ?? [])]
      })
    )
    return Effect.runPromise(
      Effect.map(Effect.provide(main(args), world), (status) => ({ status, out: out.join(""), err: err.join("") }))
    )
  }
  return { project, home, write, heddle }
}
