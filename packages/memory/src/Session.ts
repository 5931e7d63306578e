/**
 * The session that a run belongs to. Agents that are started inside of a run, as
 * tools or in a workflow, belong to the same one.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { Memory, Session } from "@heddle/memory"
 *
 * const agent = Agent.make({ name: "helper", handlers: Memory.handler() })
 * const program = Agent.run(agent, "Hello").pipe(Session.within("ada"))
 * ```
 */
import { Tenant } from "@heddle/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { MemorySettings } from "./MemorySettings.ts"

/** A session, as one request has it. Whose it is, the `Tenant` at the moment says. */
export interface SessionInfo {
  readonly id: string
  /** What the request says of memory, over everything else, for all agents that it runs. */
  readonly settings: MemorySettings
}

/** The session that a run belongs to. */
export class Session extends Context.Tag("@heddle/memory/Session")<Session, SessionInfo>() {}

/** What is to be said of a session. */
export interface Options {
  readonly id: string
  /** The tenant at the moment unless said. */
  readonly tenant?: string
  readonly settings?: MemorySettings
}

/** A session, from its id or from options. */
export const make = (session: string | Omit<Options, "tenant">): SessionInfo => {
  const { id, settings = {} } = typeof session === "string" ? { id: session } : session
  return { id, settings }
}

const tenantOf = (session: string | Options): string | undefined =>
  typeof session === "string" ? undefined : session.tenant

/** Runs an effect in a session, and for the session's tenant if that is said. */
export const within =
  (session: string | Options) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Session>> => {
    const tenant = tenantOf(session)
    const inside = Effect.provideService(self, Session, make(session))
    return tenant === undefined ? inside : Tenant.within(tenant)(inside)
  }

/** Runs a stream in a session, and for the session's tenant if that is said. */
export const withinStream =
  (session: string | Options) =>
  <A, E, R>(self: Stream.Stream<A, E, R>): Stream.Stream<A, E, Exclude<R, Session>> => {
    const tenant = tenantOf(session)
    const inside = Stream.provideService(self, Session, make(session))
    return tenant === undefined ? inside : Tenant.within(tenant)(inside)
  }
