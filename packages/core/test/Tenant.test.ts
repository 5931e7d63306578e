import { describe, expect, it } from "@effect/vitest"
import { Tenant } from "@heddle/core"
import { Effect, Stream } from "effect"

describe("the tenant", () => {
  it.effect("is the default one unless said", () =>
    Effect.gen(function* () {
      expect(yield* Tenant.Tenant).toBe(Tenant.defaultTenant)
      expect(Tenant.defaultTenant).toBe("default")
    })
  )

  it.effect("holds for an effect, for all that is started in it, and for nothing else; the innermost counts", () =>
    Effect.gen(function* () {
      const inner = Effect.gen(function* () {
        const here = yield* Tenant.Tenant
        const forked = yield* Effect.flatten(Effect.fork(Tenant.Tenant))
        const further = yield* Tenant.Tenant.pipe(Tenant.within("zeta"))
        return [here, forked, further, yield* Tenant.Tenant]
      })
      expect(yield* inner.pipe(Tenant.within("acme"))).toEqual(["acme", "acme", "zeta", "acme"])
      expect(yield* Tenant.Tenant).toBe("default")
    })
  )

  it.effect("is kept apart in effects that go on at once", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 20 }, (_, i) => `tenant ${i}`)
      const look = Effect.zipRight(Effect.yieldNow(), Tenant.Tenant)
      expect(
        yield* Effect.forEach(names, (name) => look.pipe(Tenant.within(name)), { concurrency: "unbounded" })
      ).toEqual(names)
    })
  )

  it.effect("of a stream is provided as a service", () =>
    Effect.gen(function* () {
      const stream = Stream.fromEffect(Tenant.Tenant).pipe(Stream.provideService(Tenant.Tenant, "acme"))
      expect(Array.from(yield* Stream.runCollect(stream))).toEqual(["acme"])
    })
  )
})
