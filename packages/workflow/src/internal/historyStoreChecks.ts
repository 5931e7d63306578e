/**
 * What the rules of stores are checked with: runs, values that are hard to keep,
 * and what says how a store differs.
 */
import { Errors } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { HistoryStore, type SessionInfo } from "../HistoryStore.ts"
import type { RunRecord, RunStatus } from "../RunRecord.ts"

/** What a check fails with that found something else than it should have. */
export class Violation extends Error {
  override readonly name = "Violation"
}

// -----------------------------------------------------------------------------
// runs, and what is asked of them
// -----------------------------------------------------------------------------

export const all: ReadonlyArray<RunStatus> = ["completed", "failed", "cancelled"]

export const run = (sessionId: string, runId: string, rest?: Partial<RunRecord>): RunRecord => ({
  runId,
  sessionId,
  workflow: "workflow",
  status: "completed",
  input: `input of ${runId}`,
  output: `output of ${runId}`,
  startedAt: 1_760_281_444_000,
  endedAt: 1_760_281_445_678,
  steps: [{ path: ["workflow", "loop", 2, "step"], status: "completed", output: { n: 1 } }],
  ...rest
})

/** A run of a status; only a completed one has an output. */
export const ended = (sessionId: string, runId: string, status: RunStatus): RunRecord => {
  const { output, ...rest } = run(sessionId, runId, { status })
  return status === "completed" ? { ...rest, output } : rest
}

export const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

export const runIds = (runs: ReadonlyArray<RunRecord>): ReadonlyArray<string> => runs.map(({ runId }) => runId)

const equal = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b)
  const keys = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(Reflect.get(a, key), Reflect.get(b, key)))
  )
}

export const shown = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 500 ? `${json.slice(0, 500)}… (${json.length} characters)` : json
}

export const same = (what: string, found: unknown, wanted: unknown): Effect.Effect<void, Violation> =>
  equal(found, wanted)
    ? Effect.void
    : Effect.fail(new Violation(`${what}: found ${shown(found)} instead of ${shown(wanted)}`))

export const holds = (what: string, found: boolean): Effect.Effect<void, Violation> =>
  found ? Effect.void : Effect.fail(new Violation(what))

export const appendAll = (runs: ReadonlyArray<RunRecord>) =>
  Effect.flatMap(HistoryStore, (store) => Effect.forEach(runs, (run) => store.append(run), { discard: true }))

export const everything = (sessionId: string) =>
  Effect.flatMap(HistoryStore, (store) => store.last(sessionId, Infinity, all))

/** What becomes of a run that is appended and read. */
export const roundTrip = (wanted: RunRecord) =>
  Effect.gen(function* () {
    yield* appendAll([wanted])
    const found = (yield* everything(wanted.sessionId)).at(-1)
    yield* same(`Run ${shown(wanted.runId)} of session ${shown(wanted.sessionId)}`, found, wanted)
  })

export const pages = (limit: number) =>
  Effect.gen(function* () {
    const store = yield* HistoryStore
    const found: Array<ReadonlyArray<SessionInfo>> = []
    let after: string | undefined
    do {
      const page = yield* store.sessions(after === undefined ? { limit } : { after, limit })
      found.push(page.sessions)
      after = page.next
      yield* holds(`There is no end of pages of ${limit}`, found.length <= 200)
    } while (after !== undefined)
    return found
  })

export const listed = Effect.map(pages(Infinity), (found) => found.flat().map(({ sessionId }) => sessionId))

export const hostile: ReadonlyArray<string> = [
  "__proto__",
  "constructor",
  "toString",
  " ",
  " padded ",
  "padded",
  "CASE",
  "case",
  "1",
  "01",
  "null",
  "%",
  "_",
  "*",
  "../../x",
  "a/b\\c",
  "'; DROP TABLE runs; --",
  '"quoted"',
  "line\nbreak\ttab",
  "e\u0301",
  "\u00e9",
  "历史 مرحبا 👩‍👩‍👧",
  "x".repeat(1000),
  `${"x".repeat(1000)}y`
]

export const json: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -1.5,
  0.1 + 0.2,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_VALUE,
  Number.MAX_VALUE,
  "",
  " ",
  "null",
  "2025-10-12T15:04:05.000Z",
  "\0\u001f\u007f\u0085\u2028\ufeff\r\n\ud800 'quoted' \"twice\" \\ %s ${x}",
  "e\u0301 \u00e9 历史 مرحبا 👩‍👩‍👧",
  [],
  {},
  [null, [], [[]], { a: [{}] }],
  { "": 0, " ": null, "a.b": [1], $ref: "#", length: 3, constructor: {}, toJSON: 1 },
  JSON.parse('{"__proto__": {"a": 1}, "b": {"__proto__": null}, "then": "x"}'),
  numbers(200).reduce<unknown>((inner) => ({ inner: [inner] }), "deep")
]

/** Changes all that can be changed in plain data; what is frozen stays. */
export const spoil = (plain: unknown): void => {
  if (typeof plain !== "object" || plain === null) return
  for (const [key, value] of Object.entries(plain)) {
    spoil(value)
    Reflect.set(plain, key, "spoiled")
  }
  if (Array.isArray(plain)) Reflect.set(plain, plain.length, "spoiled")
}

export const dies = (what: string, effect: Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    const defect = Exit.isFailure(exit) ? Cause.dieOption(exit.cause) : Option.none()
    const wanted = Option.exists(defect, (error) => error instanceof Errors.DefinitionError)
    return holds(`${what} did not die with a DefinitionError`, wanted)
  })
