/**
 * The bundled command in a pseudo-terminal, with a screen that is read as a person
 * would read it.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import xterm from "@xterm/headless"
import { onTestFinished } from "vitest"
import { bundle } from "../bundle.mjs"

type Pty = typeof import("@lydell/node-pty")

const loaded: Pty | string = await import("@lydell/node-pty").catch((error: unknown) => String(error))

/** Why there are no pseudo-terminals here. Missing where there are. */
export const unavailable: string | undefined = typeof loaded === "string" ? loaded : undefined

/** How long is waited for what must come, in milliseconds. */
const patience = 30_000

/** A command in a pseudo-terminal. */
export interface Terminal {
  /** What is on the screen, and what has been moved out of it: lines without the spaces at their end. */
  readonly screen: () => string
  readonly type: (keys: string) => void
  /** Waits until the screen is as a test says, from where it was seen last. Fails with what is there, if it does not become so. */
  readonly see: (text: string | RegExp) => Promise<void>
  readonly resize: (columns: number, rows: number) => void
  readonly kill: (signal: string) => void
  readonly ended: Promise<{ readonly status: number; readonly signal: number | undefined }>
}

/** Keys. */
export const key = {
  enter: "\r",
  tab: "\t",
  up: "\u001b[A",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  paste: (text: string) => `\u001b[200~${text}\u001b[201~`
}

/** Starts a program in a pseudo-terminal. */
export const start = (
  args: ReadonlyArray<string>,
  options: {
    readonly cwd: string
    readonly variables: Readonly<Record<string, string>>
    readonly columns?: number
    readonly rows?: number
  }
): Terminal => {
  if (typeof loaded === "string") throw new Error(loaded)
  const [cols, rows] = [options.columns ?? 80, options.rows ?? 24]
  const pty = loaded.spawn(process.execPath, [...args], {
    name: "xterm-256color",
    cols,
    rows,
    cwd: options.cwd,
    env: { PATH: process.env["PATH"], ...options.variables }
  })
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 5000 })
  const waiting = new Set<() => void>()
  const news = () => waiting.forEach((f) => f())
  pty.onData((data) => terminal.write(data, news))
  // What a terminal answers when it is asked.
  terminal.onData((data) => pty.write(data))
  let isOver = false
  const ended = new Promise<{ readonly status: number; readonly signal: number | undefined }>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      isOver = true
      terminal.write("", news)
      resolve({ status: exitCode, signal })
    })
  })
  onTestFinished(() => {
    if (!isOver) pty.kill("SIGKILL")
    terminal.dispose()
  })
  const screen = () => {
    const buffer = terminal.buffer.active
    const lines = Array.from({ length: buffer.length }, (_, i) => {
      const line = buffer.getLine(i)!
      return { text: line.translateToString(true), isWrapped: line.isWrapped }
    })
    return lines
      .map(({ isWrapped, text }, i) => (i === 0 || isWrapped ? text : `\n${text}`))
      .join("")
      .trimEnd()
  }
  return {
    screen,
    type: (keys) => pty.write(keys),
    see: (text) =>
      new Promise((resolve, reject) => {
        const done = (f: () => void) => {
          clearTimeout(timer)
          waiting.delete(look)
          f()
        }
        const look = () => {
          const now = screen()
          if (typeof text === "string" ? now.includes(text) : text.test(now)) done(resolve)
          else if (isOver) done(() => reject(new Error(`The command has ended without ${String(text)}:\n${now}`)))
        }
        const timer = setTimeout(
          () => done(() => reject(new Error(`There is no ${String(text)} on the screen:\n${screen()}`))),
          patience
        )
        waiting.add(look)
        look()
      }),
    resize: (columns, rows) => {
      pty.resize(columns, rows)
      terminal.resize(columns, rows)
    },
    kill: (signal) => pty.kill(signal),
    ended
  }
}

/** Bundles `loopback.ts`, which is the command and a provider of models, and gives its path. Packages outside of the bundle are found from there. */
export const bundled = async (): Promise<{ readonly program: string; readonly remove: () => void }> => {
  const parent = fileURLToPath(new URL("../dist", import.meta.url))
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(path.join(parent, "test-"))
  await bundle(folder, fileURLToPath(new URL("./loopback.ts", import.meta.url)))
  return {
    program: path.join(folder, "heddle.mjs"),
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A model on the loopback: it says what it was told last. Where that has the word "stall" in it, it stalls; where it
 * has the word "write", it writes a file of the name that comes behind that, if it has the tool.
 */
export const model = async () => {
  let stalled = 0
  let left = 0
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: ReadonlyArray<{ role: string; content: string }> }
      const said = JSON.stringify(messages.at(-1)!.content)
      const send = (delta: object, finish: string | null) =>
        response.write(
          `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish }] })}\n\n`
        )
      response.writeHead(200, { "content-type": "text/event-stream" })
      if (said.includes("stall")) {
        stalled += 1
        send({ content: "Well," }, null)
        response.on("close", () => {
          left += 1
          waiting.forEach((f) => f())
        })
        return
      }
      const file = messages.at(-1)!.role === "user" ? /write (\S+)/.exec(messages.at(-1)!.content)?.[1] : undefined
      if (file === undefined) {
        send({ content: `I was told ${said} after ${messages.length - 1} messages.` }, null)
        send({}, "stop")
      } else {
        const write = { name: "write_file", arguments: JSON.stringify({ path: file, content: "one\ntwo\n" }) }
        send({ content: "Gladly.", tool_calls: [{ index: 0, id: "c", type: "function", function: write }] }, null)
        send({}, "tool_calls")
      }
      response.end("data: [DONE]\n\n")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Waits until nobody listens to a reply that stalls. */
    allLeft: () =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (left < stalled) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A project and a home for a test. */
export const folders = (files: Readonly<Record<string, string>> = {}) => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "heddle-pty-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [project, home] = [path.join(root, "project"), path.join(root, "home")]
  mkdirSync(project)
  mkdirSync(home)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, file)), { recursive: true })
    writeFileSync(path.join(project, file), text)
  }
  return { project, home }
}
