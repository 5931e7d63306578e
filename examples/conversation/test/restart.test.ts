import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { askEach, askOtherwise } from "../ask.ts"
import { temporaryFile } from "../process.ts"
import { begin } from "../talk.ts"
import { onFile } from "../world.ts"

interface Ended {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** Runs a program of the example in a process of its own. */
const run = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.async<Ended>((resume) => {
    const file = fileURLToPath(new URL(`../${program}`, import.meta.url))
    const child = execFile(process.execPath, ["--import", "tsx", file, ...args], (error, out, err) =>
      resume(Effect.succeed({ status: error === null ? 0 : Number(error.code ?? -1), out, err }))
    )
    return Effect.sync(() => void child.kill())
  })

/** The rows of the tables in an output. */
const rows = (out: string) =>
  out
    .split("\n")
    .filter((line) => /^ {2}\S.* {2}(?:·|\+\d+) +(?:·|\+\d+)$/.test(line))
    .map((line) => line.trim().split(/ {2,}/))

const timeout = 60_000

it.scoped(
  "a new process finds each agent's own conversation and the main one",
  () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const question = "Which framework does our project use?"
      yield* Effect.gen(function* () {
        yield* begin
        yield* askEach(question)
        yield* askOtherwise(question)
      }).pipe(Effect.provide(onFile(file)))
      const { err, out, status } = yield* run("afterRestart.ts", file)
      expect({ err, status }).toEqual({ err: "", status: 0 })
      expect(rows(out).map((row) => [row[0], row[1], row[2]])).toEqual([
        ["isolated", "none of 16", "1 of 1"],
        ["selective", "6 exchanges of 16", "1 of 1"],
        ["summarized", expect.stringMatching(/^\d+–16 of 16$/), "1 of 1"],
        ["fork", "1–16 of 16", "none of 2"],
        ["shared", "1–16 of 16", "·"],
        ["hybrid", "none of 17", "1 of 1"]
      ])
      expect(out.match(/“The last that I see is: Which framework does our project use\?”/g)).toHaveLength(6)
    }),
  timeout
)

it.scoped(
  "the whole command goes on in the file of the run before",
  () =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      const first = yield* run("main.ts", "--db", file, "When is the launch?")
      expect(first).toMatchObject({ status: 0, err: "" })
      expect(rows(first.out).map(([label]) => label)).toEqual([
        "isolated",
        "selective",
        "summarized",
        "fork",
        "shared",
        "hybrid",
        "isolated → shared",
        "fork, by host",
        "isolated",
        "selective",
        "summarized",
        "fork",
        "shared",
        "hybrid"
      ])
      expect(first.out).toContain("The launch is on March 14.")
      for (const line of first.out.split("\n")) expect(line.length).toBeLessThanOrEqual(80)

      const second = yield* run("main.ts", "--db", file)
      expect(second.status).toBe(0)
      expect(second.out).toContain("The main conversation: 18 exchanges from an earlier run")
      expect(rows(second.out)[0]).toEqual(["isolated", "none of 18", "1–2 of 2", "·", "·", "+1"])
    }),
  timeout
)

describe("what cannot be opened is told in words, with status 1", () => {
  const refused = (prepare: (file: string) => Promise<unknown>, words: RegExp) =>
    Effect.gen(function* () {
      const file = yield* temporaryFile
      yield* Effect.promise(() => prepare(file))
      const { err, out, status } = yield* run("main.ts", "--db", file)
      expect({ out, status }).toEqual({ out: "", status: 1 })
      expect(err).toMatch(words)
      expect(err).not.toMatch(/^ +at /m)
    })

  it.scoped("a folder", () => refused((file) => mkdir(file), /is a folder\. Give the path of a file/), timeout)
  it.scoped(
    "another file",
    () => refused((file) => writeFile(file, "words ".repeat(999)), /is not a database/),
    timeout
  )
  it.scoped(
    "a damaged file",
    () =>
      refused(async (file) => {
        await Effect.runPromise(Effect.provide(begin, onFile(file)))
        const bytes = await readFile(file)
        await writeFile(file, bytes.fill(0xff, 8192, 24_576))
      }, /is damaged/),
    timeout
  )
  it.scoped(
    "arguments that make no sense",
    () =>
      Effect.gen(function* () {
        const { err, out, status } = yield* run("main.ts", "--bd", path.join("a", "b.db"))
        expect({ out, status }).toEqual({ out: "", status: 1 })
        expect(err).toMatch(/^conversation: Unknown option '--bd'.*\nusage: /)
      }),
    timeout
  )
})
