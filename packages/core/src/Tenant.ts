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
import * as Stream from "effect/Stream"

/** The tenant of those who have one only. */
export const defaultTenant = "default"

/** The tenant at the moment: `"default"` unless said. */
export class Tenant extends Context.Reference<Tenant>()("@heddle/core/Tenant", {
  defaultValue: (): string => defaultTenant
}) {}

/** Runs an effect, or a stream, for a tenant. */
export const within =
  (tenant: string) =>
  <Self extends Effect.Effect<unknown, unknown, unknown> | Stream.Stream<unknown, unknown, unknown>>(
    self: Self
  ): Self =>
    // Both give back the type that they take: `Tenant` is a reference, so it never was in `R`.
    (Effect.isEffect(self)
      ? Effect.provideService(self, Tenant, tenant)
      : Stream.provideService(self as Stream.Stream<unknown, unknown, unknown>, Tenant, tenant)) as unknown as Self
