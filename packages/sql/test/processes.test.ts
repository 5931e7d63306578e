import { expect, it } from "@effect/vitest"
import { Conversations } from "@heddle/memory"
import { SqlConversations } from "@heddle/sql"
import { layer } from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { file } from "./support/files.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const script = fileURLToPath(new URL("support/appender.ts", import.meta.url))

/** Runs the program, and gives the positions that it told of. It is killed as soon as so many bytes have come. */
const append = (filename: string, name: string, count: number, killAt = Infinity) =>
  Effect.promise(
    () =>
      new Promise<ReadonlyArray<number>>((resolve, reject) => {
        const args = ["--import", "tsx", script, filename, name, String(count)]
        const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] })
        let output = ""
        child.stdout.on("data", (chunk: Buffer) => {
          output += chunk.toString()
          if (output.length >= killAt) child.kill("SIGKILL")
        })
        child.on("error", reject)
        child.on("close", (code, signal) => {
          if (code !== 0 && signal !== "SIGKILL") reject(new Error(`The program ended with ${code}.`))
          // The last line may be half of one.
          else resolve(output.split("\n").slice(0, -1).map(Number))
        })
      })
  )

const kept = (filename: string) =>
  Effect.flatMap(Conversations.Conversations, (store) => store.read(Conversations.main("ada"))).pipe(
    Effect.provide(Layer.provide(SqlConversations.layer, layer({ filename, integrityCheck: "full" })))
  )

/** What is kept of an exchange has all of its parts. */
const isWhole = ({ agent, messages }: Conversations.Exchange) => {
  const texts = messages.flatMap(({ content }) => content.map((part) => (part._tag === "Text" ? part.text : "")))
  const n = texts[0]!.slice(agent.length + 1)
  return texts.length === 2 && texts[0] === `${agent} ${n}` && texts[1] === `${n} `.repeat(500)
}

it.scopedLive(
  "after a kill at any moment, all that was acknowledged is there, whole, and nothing else is in between",
  () =>
    Effect.gen(function* () {
      const filename = yield* file
      let before = 0
      for (const round of ["a", "b", "c", "d", "e"]) {
        const killAt = 1 + Math.floor(Math.random() * 2000)
        const told = yield* append(filename, round, 1000, killAt)
        const { exchanges, info } = yield* kept(filename)
        const what = `killed at byte ${killAt}`
        // One more may have been kept without a word.
        expect([told.length, told.length + 1], what).toContain(exchanges.length - before)
        expect(told, what).toEqual(told.map((_, n) => before + n + 1))
        expect(
          exchanges.map(({ position }) => position),
          what
        ).toEqual(exchanges.map((_, n) => n + 1))
        expect(exchanges.every(isWhole), what).toBe(true)
        expect(info!.exchanges, what).toBe(exchanges.length)
        before = exchanges.length
      }
    })
)

it.scopedLive("processes that begin on one new file at once, and append to one conversation, lose nothing", () =>
  Effect.gen(function* () {
    const filename = yield* file
    const names = ["a", "b", "c"]
    const told = yield* Effect.forEach(names, (name) => append(filename, name, 200), { concurrency: "unbounded" })
    const { exchanges } = yield* kept(filename)
    expect(exchanges.map(({ position }) => position)).toEqual(Array.from({ length: 600 }, (_, n) => n + 1))
    expect(exchanges.every(isWhole)).toBe(true)
    // Each was told the positions that its exchanges have.
    for (const [n, name] of names.entries()) {
      expect(exchanges.filter(({ agent }) => agent === name).map(({ position }) => position)).toEqual(told[n])
    }
  })
)
