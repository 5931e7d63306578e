/** The world of a process of Node. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { homedir } from "node:os"
import { Asking } from "../Asking.ts"
import { LineReader } from "../chat/Lines.ts"
import { Environment } from "../Environment.ts"
import { Extensions, type Service } from "../Extensions.ts"
import { failed } from "../failure.ts"
import { Output, type Sheet } from "../Output.ts"

/** What has failed takes everything at once: the command is ended for it elsewhere, and what ends it may write. */
const sheet = (stream: NodeJS.WriteStream): Sheet => ({
  write: (text) =>
    Effect.async<void>((resume) => {
      if (stream.errored !== null || stream.destroyed || stream.write(text)) return resume(Effect.void)
      const events = ["drain", "error", "close"] as const
      const off = () => events.forEach((event) => stream.off(event, ready))
      const ready = () => {
        off()
        resume(Effect.void)
      }
      for (const event of events) stream.on(event, ready)
      return Effect.sync(off)
    }),
  isTerminal: stream.isTTY === true,
  colours: stream.isTTY === true && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb",
  columns: () => stream.columns ?? 80,
  rows: () => stream.rows ?? 24
})

const read = Effect.tryPromise({
  try: async () => {
    const pieces: Array<Buffer> = []
    for await (const piece of process.stdin) pieces.push(piece)
    return Buffer.concat(pieces)
  },
  catch: (cause) => failed("Standard input cannot be read.", cause)
})

/** The world of this process. `input`: what stands on standard input, in place of what stands there. */
export const world = (extensions: Service, input?: string | Uint8Array) =>
  Layer.mergeAll(
    NodeContext.layer,
    Layer.succeed(Output, { out: sheet(process.stdout), err: sheet(process.stderr) }),
    Layer.succeed(Environment, {
      cwd: process.cwd(),
      home: homedir(),
      user: process.getuid?.(),
      variables: process.env,
      input:
        input === undefined
          ? { isTerminal: process.stdin.isTTY === true, read }
          : { isTerminal: false, read: Effect.succeed(Buffer.from(input)) }
    }),
    Layer.succeed(Asking, {
      ask: (question) =>
        Effect.flatMap(
          Effect.promise(() => import("./asking.ts")),
          ({ ask }) => ask(question, sheet(process.stderr))
        )
    }),
    Layer.succeed(LineReader, {
      open: (history) =>
        Effect.flatMap(
          Effect.promise(() => import("./lines.ts")),
          ({ open }) => open(history)
        )
    }),
    Layer.succeed(Extensions, extensions)
  )
