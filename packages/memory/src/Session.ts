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
import type { MemorySettings } from "./MemorySettings.ts"

/** A session, as one request has it. */
export interface SessionInfo {
  readonly tenant: string
  readonly id: string
  /** What the request says of memory, over everything else, for all agents that it runs. */
  readonly settings: MemorySettings
}

/** The session that a run belongs to. */
export class Session extends Context.Tag("@heddle/memory/Session")<Session, SessionInfo>() {}

/** What is to be said of a session. */
export interface Options {
  readonly id: string
  readonly tenant?: string
  readonly settings?: MemorySettings
}

/** A session, from its id or from options. `tenant` is whose it is where they do not say. For a `Stream`, provide it with `Stream.provideService`. */
export const make = (session: string | Options, tenant: string = Tenant.defaultTenant): SessionInfo => ({
  settings: {},
  tenant,
  ...(typeof session === "string" ? { id: session } : session)
})

/** Runs an effect in a session, and for the session's tenant. Where that is not said, it is the tenant at the moment. */
export const within =
  (session: string | Options) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Session>> =>
    Effect.flatMap(Tenant.Tenant, (tenant) => {
      const info = make(session, tenant)
      return self.pipe(Effect.provideService(Session, info), Tenant.within(info.tenant))
    })
