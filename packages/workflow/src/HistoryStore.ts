/**
 * Where finished runs are kept, session by session.
 *
 * A run is appended once, when it has ended, in one write that does not depend on
 * how long the session is. `@heddle/workflow/testing` has the rules that every
 * store keeps, as tests.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RunRecord, RunStatus } from "./RunRecord.ts"
import type { HistoryUnavailable } from "./WorkflowErrors.ts"

/** A page of sessions, in the order of their ids. `next` is missing on the last page. */
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

/** A store of runs. */
export interface Service {
  /** Adds a run to the end of its session. Fails, and keeps what is there, when the session has a run of this id. */
  readonly append: (record: RunRecord) => Effect.Effect<void, HistoryUnavailable>
  /** The last `count` runs (`Infinity`: all) that ended in one of `statuses`, oldest first. A session that is not known has none. */
  readonly last: (
    sessionId: string,
    count: number,
    statuses: ReadonlyArray<RunStatus>
  ) => Effect.Effect<ReadonlyArray<RunRecord>, HistoryUnavailable>
  /** Deletes a session. Says whether there was one. */
  readonly remove: (sessionId: string) => Effect.Effect<boolean, HistoryUnavailable>
  /** The sessions after one of them, `limit` at the most. */
  readonly sessions: (page: {
    readonly after?: string
    readonly limit: number
  }) => Effect.Effect<SessionPage, HistoryUnavailable>
}

/** A store of runs. */
export class HistoryStore extends Context.Tag("@heddle/workflow/HistoryStore")<HistoryStore, Service>() {}
