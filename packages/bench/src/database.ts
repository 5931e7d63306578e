/**
 * Conversations in one libSQL file: appending and reading while a conversation
 * grows to 100,000 exchanges, and how large the file is then.
 */
import { readdirSync, statSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Message } from "@heddle/core"
import { Conversations } from "@heddle/memory"
import { SqlConversations } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { assert, type Result, summary } from "./measure.ts"

const key = Conversations.main("s")
const words = "the loom lifts a thread for each pick of the weft and lets it down again "

/** About 2 KB, no two the same. */
const exchange = (n: number): Conversations.NewExchange => ({
  agent: "main",
  messages: [
    Message.user(`Question ${n}: ${words.repeat(6)}`),
    Message.assistant(`Answer ${n}: ${words.slice(n % words.length)}${words.repeat(20)}`)
  ]
})

const textOf = ({ messages }: Conversations.NewExchange): number =>
  messages.reduce((sum, message) => sum + Message.text(message).length, 0)

/** The times of one after the other, in milliseconds. */
const timed = <E>(times: number, one: (n: number) => Effect.Effect<unknown, E>) =>
  Effect.gen(function* () {
    const samples: Array<number> = []
    for (let n = 0; n < times; n++) {
      const start = performance.now()
      yield* one(n)
      samples.push(performance.now() - start)
    }
    return samples
  })

const sizes = [10, 1_000, 10_000, 100_000] as const
/** Appends that are timed at each size. */
const timedAppends = 300

const measured = Effect.gen(function* () {
  const store = yield* Conversations.Conversations
  const results: Array<Result> = []
  const note = (name: string, unit: Result["unit"], samples: ReadonlyArray<number>) =>
    results.push({ case: `K: ${name}`, subject: "heddle", unit, ...summary(samples) })
  const written = { count: 0, text: 0 }
  const append = () =>
    Effect.suspend(() => {
      const next = exchange(++written.count)
      written.text += textOf(next)
      return store.append(key, next)
    })
  // The compiler is through with the code before anything is timed.
  yield* Effect.forEach(Array.from({ length: 500 }), () =>
    store.append(Conversations.main("warm"), { agent: "main", messages: [Message.user("warm")] })
  )
  yield* store.remove(Conversations.main("warm"))
  for (const size of sizes) {
    while (written.count < size) yield* append()
    note(`append 2 KB to ${size.toLocaleString("en")} exchanges`, "ms", yield* timed(timedAppends, append))
  }
  const read = timed(timedAppends, () =>
    Effect.map(store.read(key, { last: 20 }), ({ exchanges }) =>
      assert(exchanges.length === 20 && exchanges[19]!.position === written.count, "the last exchanges were read")
    )
  )
  note(`read the last 20 of ${written.count.toLocaleString("en")}`, "ms", yield* read)
  return { results, text: written.text }
})

/** The median at the largest size, over that at the smallest. */
const growth = (results: ReadonlyArray<Result>): Result => {
  const appends = results.filter(({ case: name }) => name.startsWith("K: append"))
  const ratio = appends.at(-1)!.median / appends[0]!.median
  return {
    case: "K: append at 100,000 against 10",
    subject: "heddle",
    unit: "×",
    median: ratio,
    min: ratio,
    max: ratio
  }
}

export const caseK = async (): Promise<ReadonlyArray<Result>> => {
  const folder = await mkdtemp(join(tmpdir(), "heddle-bench-"))
  try {
    const filename = join(folder, "heddle.db")
    const layer = Layer.provide(SqlConversations.layer, libsql.layer({ filename }))
    const { results, text } = await Effect.runPromise(Effect.provide(measured, layer))
    // With its log, if there is still one.
    const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / text
    return [
      ...results,
      growth(results),
      {
        case: "K: size on disk over that of the text",
        subject: "heddle",
        unit: "×",
        median: size,
        min: size,
        max: size
      }
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
