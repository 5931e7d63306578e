/**
 * Whom a program works for at the moment, where it works for several: their
 * conversations, documents and models are kept apart by it.
 *
 * @example
 * ```ts
 * import { Agent, Tenant } from "@heddle/core"
 *
 * const agent = Agent.make({ name: "helper" })
 * const program = Agent.run(agent, "Hello").pipe(Tenant.within("acme"))
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The tenant of those who have one only. */
export const defaultTenant = "default"

/** The tenant at the moment: `"default"` unless said. For a `Stream`, provide it with `Stream.provideService`. */
export class Tenant extends Context.Reference<Tenant>()("@heddle/core/Tenant", {
  defaultValue: (): string => defaultTenant
}) {}

/** Runs an effect for a tenant. */
export const within =
  (tenant: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, Tenant, tenant)
