/**
 * Where finished runs are kept, session by session.
 *
 * A run is appended once, when it has ended, in one write that does not depend on
 * how long the session is. `layerMemory` keeps runs for as long as the program
 * runs. `@heddle/workflow/testing` has the rules that every store keeps, as tests.
 *
 * @example
 * ```ts
 * import { HistoryStore } from "@heddle/workflow"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const store = yield* HistoryStore.HistoryStore
 *   yield* store.append({
 *     runId: "r1",
 *     sessionId: "ada",
 *     workflow: "greeter",
 *     status: "completed",
 *     input: "hello",
 *     output: "hi",
 *     startedAt: 0,
 *     endedAt: 1,
 *     steps: []
 *   })
 *   return yield* store.last("ada", 5, ["completed"])
 * })
 * const runs = await Effect.runPromise(Effect.provide(program, HistoryStore.layerMemory({ maxRuns: 20 })))
 * console.log(runs.map((run) => run.output)) // [ 'hi' ]
 * ```
 */
import { countBefore, frozen, RecencyMap, whole } from "@heddle/core/store"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunRecord, RunStatus } from "./RunRecord.ts"
import { HistoryUnavailable } from "./WorkflowErrors.ts"

/** A page of sessions, in the order of their ids by code unit or code point, not by language. `next` is missing on the last page. */
export interface SessionPage {
  readonly sessions: ReadonlyArray<SessionInfo>
  /** What to give as `after` for the next page. */
  readonly next?: string
}

/** What is known of a session. */
export interface SessionInfo {
  readonly sessionId: string
  /** Runs kept. */
  readonly runs: number
  /** When its last run ended, in milliseconds since the epoch. */
  readonly lastEndedAt: number
}

/**
 * A store of runs. What is done to a record after it was appended, or after it
 * was read, does not reach the store. A count or a limit that makes no sense is
 * a mistake in the program: the effect dies with a `DefinitionError`.
 */
export interface Service {
  /** Adds a run to the end of its session. Fails, and keeps what is there, when the session has a run of this id. */
  readonly append: (record: RunRecord) => Effect.Effect<void, HistoryUnavailable>
  /**
   * The last `count` runs (a whole number from 0 up, or `Infinity` for all) that
   * ended in one of `statuses`, oldest first, in the order of appending. A
   * session that is not known has none.
   */
  readonly last: (
    sessionId: string,
    count: number,
    statuses: ReadonlyArray<RunStatus>
  ) => Effect.Effect<ReadonlyArray<RunRecord>, HistoryUnavailable>
  /** Deletes a session. Says whether there was one. */
  readonly remove: (sessionId: string) => Effect.Effect<boolean, HistoryUnavailable>
  /** The first `limit` sessions (a whole number from 1 up, or `Infinity` for all), or those that follow the id `after`. */
  readonly sessions: (page: {
    /** Need not be there any more. */
    readonly after?: string
    readonly limit: number
  }) => Effect.Effect<SessionPage, HistoryUnavailable>
}

/** A store of runs. */
export class HistoryStore extends Context.Tag("@heddle/workflow/HistoryStore")<HistoryStore, Service>() {}

// -----------------------------------------------------------------------------
// in memory
// -----------------------------------------------------------------------------

/** How much `layerMemory` keeps. */
export interface MemoryOptions {
  /** Beyond it, the session that was not appended to for the longest time is dropped. @default 1000 */
  readonly maxSessions?: number
  /** Of one session. Beyond it, its oldest run is dropped, and the run's id is free again. @default 100 */
  readonly maxRuns?: number
}

/**
 * A store in memory, a new one each time that the layer is built: provide it where
 * the program begins, not to each run. Bounds are whole numbers from 1 up, or
 * `Infinity`; throws a `DefinitionError` for others.
 */
export const layerMemory = (options?: MemoryOptions): Layer.Layer<HistoryStore> => {
  const maxSessions = whole("maxSessions", options?.maxSessions ?? 1000, 1)
  const maxRuns = whole("maxRuns", options?.maxRuns ?? 100, 1)
  return Layer.sync(HistoryStore, () => memory(maxSessions, maxRuns))
}

interface Session {
  readonly runIds: Set<string>
  /** The run that was appended as number `n`, from 0, is at `n % maxRuns`. */
  readonly runs: Array<RunRecord>
  /** How many runs were ever appended. */
  appended: number
}

const memory = (maxSessions: number, maxRuns: number): Service => {
  const sessions = new RecencyMap<Session>()
  /** The ids in order, until a session comes or goes. */
  let ordered: ReadonlyArray<string> | undefined

  const drop = (sessionId: string): boolean => {
    const dropped = sessions.delete(sessionId)
    if (dropped) ordered = undefined
    return dropped
  }
  const info = (sessionId: string): SessionInfo => {
    const { appended, runs } = sessions.get(sessionId)!
    return { sessionId, runs: runs.length, lastEndedAt: runs[(appended - 1) % maxRuns]!.endedAt }
  }

  const add = (record: RunRecord) => {
    const { runId, sessionId } = record
    const known = sessions.get(sessionId)
    if (known?.runIds.has(runId) === true) throw new Error(`It has a run ${JSON.stringify(runId)} already.`)
    const kept = frozen(record)
    const session = known ?? { runIds: new Set(), runs: [], appended: 0 }
    const place = session.appended++ % maxRuns
    const dropped = session.runs[place]
    if (dropped !== undefined) session.runIds.delete(dropped.runId)
    session.runs[place] = kept
    session.runIds.add(runId)
    sessions.set(sessionId, session)
    if (known === undefined) ordered = undefined
    if (sessions.size > maxSessions) drop(sessions.oldest!)
  }

  return {
    append: (record) =>
      Effect.try({
        try: () => add(record),
        catch: (cause) => new HistoryUnavailable({ operation: "append", sessionId: record.sessionId, cause })
      }),
    last: (sessionId, count, statuses) =>
      Effect.sync(() => {
        whole("count", count, 0)
        const { appended, runs } = sessions.get(sessionId) ?? { appended: 0, runs: [] }
        const found: Array<RunRecord> = []
        for (let n = appended - 1; n >= appended - runs.length && found.length < count; n--) {
          const run = runs[n % maxRuns]!
          if (statuses.includes(run.status)) found.push(run)
        }
        return found.toReversed()
      }),
    remove: (sessionId) => Effect.sync(() => drop(sessionId)),
    sessions: ({ after, limit }) =>
      Effect.sync(() => {
        whole("limit", limit, 1)
        ordered ??= Array.from(sessions.keys()).toSorted((a, b) => (a < b ? -1 : 1))
        const from = after === undefined ? 0 : countBefore(ordered, (id) => id > after)
        const ids = ordered.slice(from, from + limit)
        const more = from + ids.length < ordered.length
        return { sessions: ids.map(info), ...(more && { next: ids.at(-1)! }) }
      })
  }
}
