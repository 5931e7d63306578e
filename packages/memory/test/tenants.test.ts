import { describe, expect, it } from "@effect/vitest"
import { Agent, Tenant } from "@heddle/core"
import { Conversations, MemoryErrors, Session } from "@heddle/memory"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { agentNamed, kept, lastSeen, world } from "./support.ts"

const agent = agentNamed("helper")

/** Runs `ask` as each of two tenants, and gives what the model was shown for the second. */
const second = (ask: (tenant: string, text: string) => Effect.Effect<unknown, unknown, never>) =>
  Effect.flatMap(ask("acme", "a secret of acme"), () => ask("zeta", "hello"))

describe("a session belongs to the tenant at the moment", () => {
  const ways = {
    "the tenant said inside of the session": (tenant: string, text: string) =>
      Agent.run(agent, text).pipe(Tenant.within(tenant), Session.within("ada")),
    "the tenant said around the session": (tenant: string, text: string) =>
      Agent.run(agent, text).pipe(Session.within("ada"), Tenant.within(tenant)),
    "the tenant said with the session": (tenant: string, text: string) =>
      Agent.run(agent, text).pipe(Session.within({ id: "ada", tenant })),
    "the session as a service": (tenant: string, text: string) =>
      Agent.run(agent, text).pipe(Effect.provideService(Session.Session, Session.make("ada")), Tenant.within(tenant)),
    "a stream, and the tenant around its session": (tenant: string, text: string) =>
      Agent.stream(agent, text).pipe(Session.withinStream("ada"), Tenant.within(tenant), Stream.runDrain),
    "a stream, and the tenant with its session": (tenant: string, text: string) =>
      Agent.stream(agent, text).pipe(Session.withinStream({ id: "ada", tenant }), Stream.runDrain)
  }
  for (const [name, ask] of Object.entries(ways)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const { asked, layer } = yield* world()
        const services = Layer.succeedContext(yield* Layer.build(layer))
        yield* Effect.gen(function* () {
          yield* second((tenant, text) => Effect.provide(ask(tenant, text), services))
          expect(lastSeen(yield* asked)).toEqual(["hello"])
          expect(yield* kept(Conversations.own("ada", "helper", "acme"))).toHaveLength(1)
          expect(yield* kept(Conversations.own("ada", "helper", "zeta"))).toHaveLength(1)
          expect(yield* kept(Conversations.own("ada", "helper"))).toEqual([])
        }).pipe(Effect.provide(services))
      }).pipe(Effect.scoped)
    )
  }

  it.effect("which is not said by `undefined`", () =>
    Effect.gen(function* () {
      const { layer } = yield* world()
      // What a program says that is compiled less strictly.
      const session = { id: "ada", tenant: undefined } as unknown as Session.Options
      yield* Effect.gen(function* () {
        yield* Agent.run(agent, "hello").pipe(Session.within(session), Tenant.within("acme"))
        expect(yield* kept(Conversations.own("ada", "helper", "acme"))).toHaveLength(1)
      }).pipe(Effect.provide(layer))
    })
  )
})

describe("a session that makes no sense", () => {
  const cases: ReadonlyArray<readonly [session: unknown, tenant: unknown, problem: string]> = [
    [{ id: "", settings: {} }, "acme", "session: expected a text that is not empty"],
    [{ id: undefined, settings: {} }, "acme", "session: expected a text that is not empty"],
    [{ id: 7, settings: {} }, "acme", "session: expected a text that is not empty"],
    [{ id: "ada", settings: {} }, "", "tenant: expected a text that is not empty"],
    [{ id: "ada", settings: {} }, 7, "tenant: expected a text that is not empty"],
    [{ id: "ada", settings: null }, "acme", "settings"],
    [{ id: "ada", settings: { historyLimit: -1 } }, "acme", "settings.historyLimit"]
  ]
  for (const [session, tenant, problem] of cases) {
    it.effect(`fails the run: ${JSON.stringify(session)} of ${JSON.stringify(tenant)}`, () =>
      Effect.gen(function* () {
        const { layer, requests } = yield* world()
        const exit = yield* Agent.run(agent, "hello").pipe(
          // What a program says that nobody has compiled.
          Effect.provideService(Session.Session, session as Session.SessionInfo),
          Tenant.within(tenant as string),
          Effect.provide(layer),
          Effect.exit
        )
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        expect(error).toBeInstanceOf(MemoryErrors.InvalidMemory)
        expect((error as MemoryErrors.InvalidMemory).problems.join()).toContain(problem)
        expect(yield* requests).toEqual([])
      })
    )
  }
})
