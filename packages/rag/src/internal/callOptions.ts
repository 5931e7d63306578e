/**
 * What calls and requests say of retrieval, over the agent.
 */
import type { Agent, AgentRun } from "@heddle/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RagSettings } from "../RagSettings.ts"
import type { Filter } from "../Retriever.ts"
import { metadataKey } from "./metadataKey.ts"

/** What one call or one request says, over the agent. */
export interface CallOptions {
  readonly settings?: RagSettings
  /** Which documents are searched; all of the tenant's unless said. What others say narrows it: all filters hold. */
  readonly filter?: Filter
}

/**
 * Options of `Agent.run` and of `Node.agent`, with which a call says its settings and
 * its filter. They hold for this run of the agent and for none inside of it.
 */
export const call = (options: CallOptions): { readonly metadata: Agent.CallOptions["metadata"] & object } => ({
  metadata: { [metadataKey]: options }
})

/** What requests say, the innermost first. */
export class Requests extends Context.Reference<Requests>()("@heddle/rag/Requests", {
  defaultValue: (): ReadonlyArray<CallOptions> => []
}) {}

const saidInside = (options: CallOptions) => Effect.map(Requests, (outer) => [options, ...outer])

/**
 * What a request says, for all agents that run in the effect. Inside of another, each
 * setting is the inner one's, where it says it, and the filters of both hold.
 */
export const within =
  (options: CallOptions) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(saidInside(options), (said) => Effect.provideService(self, Requests, said))

/** What a request says, for all agents that run in the stream; see `within`. */
export const withinStream =
  (options: CallOptions) =>
  <A, E, R>(self: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.unwrap(Effect.map(saidInside(options), (said) => Stream.provideService(self, Requests, said)))

/** What a call says, if it does. */
export const ofCall = (metadata: AgentRun.RunOptions["metadata"]): ReadonlyArray<CallOptions> => {
  // What stands there is what `call` has written.
  const said = metadata[metadataKey] as CallOptions | undefined
  return said === undefined ? [] : [said]
}
