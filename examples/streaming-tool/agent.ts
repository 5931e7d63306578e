import { Agent, Tool, Tools } from "@heddle/core"
import { Effect, Stream } from "effect"
import { redact } from "./redact.ts"

export const secret = "s3cr3t"

/** A tool whose result is text that comes bit by bit. */
const readLog = Tool.stream({
  name: "read_log",
  description: "Reads the log.",
  execute: () => Stream.make("connect with s3", "cr", "3t: ok\n", "read with s3cr3t: 12 rows\n", "password s3c")
})

/** A tool that tells how far it is, and answers in one piece. */
const deploy = Tool.make({
  name: "deploy",
  description: "Deploys the service.",
  execute: (_, { progress }) =>
    Effect.gen(function* () {
      yield* progress({ percent: 10, step: "log in with s3cr3t" })
      yield* progress({ percent: 100, step: "done" })
      return { url: "https://user:s3cr3t@example.org" }
    })
})

export const agent = Agent.make({
  name: "operator",
  instructions: "You operate a service.",
  tools: Tools.make(readLog, deploy),
  handlers: redact(secret)
})
