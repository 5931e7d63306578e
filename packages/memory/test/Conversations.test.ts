import { describe, expect, it } from "@effect/vitest"
import { Errors, Message } from "@heddle/core"
import { Conversations } from "@heddle/memory"
import { conversations, conversationsAgree } from "@heddle/memory/testing"
import { Effect } from "effect"

const { layerMemory, main, own } = Conversations

const exchange: Conversations.NewExchange = { agent: "helper", messages: [Message.user("Hi")] }
const ask = <A, E>(f: (store: Conversations.Service) => Effect.Effect<A, E>) =>
  Effect.flatMap(Conversations.Conversations, f)
const append = (session: string) => ask((store) => store.append(main(session), exchange))
const sessions = Effect.map(
  ask((store) => store.list({ limit: Infinity })),
  ({ conversations }) => conversations.map(({ key }) => key.session)
)

conversations("the store in memory keeps the rules", layerMemory())
conversations("the store in memory keeps the rules within a tight bound", layerMemory({ maxConversations: 100 }))
conversations("the store in memory keeps the rules without a bound", layerMemory({ maxConversations: Infinity }))
conversationsAgree("the store in memory does within a bound what it does without", layerMemory({ maxConversations: 6 }))

describe("keys", () => {
  it("a session of the only tenant is one of the default tenant", () => {
    expect(main("a")).toEqual({ tenant: "default", session: "a" })
    expect(own("a", "b")).toEqual({ tenant: "default", session: "a", agent: "b" })
    expect([main("a", "t").tenant, own("a", "b", "t").tenant]).toEqual(["t", "t"])
  })
})

describe("bounds", () => {
  it.effect("the conversation that was not used for the longest time is dropped first; reading is using", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c"]) yield* append(id)
      yield* ask((store) => store.read(main("a"), { last: 0 }))
      // Neither listing nor looking for what is not there is.
      yield* sessions
      yield* ask((store) => store.read(own("b", "x")))
      yield* append("d")
      expect(yield* sessions).toEqual(["a", "c", "d"])
      yield* ask((store) => store.clear(main("c")))
      yield* append("e")
      expect(yield* sessions).toEqual(["c", "d", "e"])
      yield* ask((store) => store.replace(main("f"), [], undefined))
      expect(yield* sessions).toEqual(["c", "e", "f"])
    }).pipe(Effect.provide(layerMemory({ maxConversations: 3 })))
  )
  it.effect("one that was dropped is unknown, and begins again", () =>
    Effect.gen(function* () {
      const before = yield* append("a")
      yield* append("b")
      expect(yield* ask((store) => store.read(main("a")))).toEqual({ exchanges: [] })
      const after = yield* append("a")
      expect(after.exchanges).toBe(1)
      expect(after.generation).not.toBe(before.generation)
    }).pipe(Effect.provide(layerMemory({ maxConversations: 1 })))
  )
  it("bounds that make no sense are refused", () => {
    for (const maxConversations of [0, -1, 1.5, NaN]) {
      expect(() => layerMemory({ maxConversations })).toThrow(Errors.DefinitionError)
    }
  })
})

it.effect("what cannot be copied is ConversationsUnavailable, and changes nothing", () =>
  Effect.gen(function* () {
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    const wrong = { agent: "helper", messages: [{ ...Message.user("Hi"), metadata: circle }] }
    const appending = yield* Effect.flip(ask((store) => store.append(main("a"), wrong)))
    expect(appending).toMatchObject({ _tag: "ConversationsUnavailable", operation: "append", key: main("a") })
    const replacing = yield* Effect.flip(ask((store) => store.replace(main("a"), [exchange, wrong], undefined)))
    expect(replacing).toMatchObject({ _tag: "ConversationsUnavailable", operation: "replace" })
    expect(yield* sessions).toEqual([])
  }).pipe(Effect.provide(layerMemory()))
)
