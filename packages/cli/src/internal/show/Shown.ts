/**
 * Showing a run while it goes on.
 */
import type { AgentEvent, AgentRun, Call } from "@heddle/core"
import type * as Effect from "effect/Effect"

/** What happens in a run, and that what happened does not count any more. */
export type Event = AgentEvent.AgentEvent<AgentRun.AgentResult> | Call.Reset

/** Shows a run. */
export interface Shown {
  readonly event: (event: Event) => Effect.Effect<void>
  /** Says that the run was cancelled, where it has begun and none of its events has said how it ended. */
  readonly cancelled: Effect.Effect<void>
  /** What is left to be shown when there are no more events, however the run has ended. */
  readonly end: Effect.Effect<void>
}
