/**
 * What the rules of stores are checked with: runs, and what is asked of them.
 */
import { holds, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { HistoryStore, type SessionInfo } from "../HistoryStore.ts"
import type { RunRecord, RunStatus } from "../RunRecord.ts"

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

export const runIds = (runs: ReadonlyArray<RunRecord>): ReadonlyArray<string> => runs.map(({ runId }) => runId)

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
