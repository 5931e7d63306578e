import { FileSystem, KeyValueStore } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { Message } from "@heddle/core"
import { Conversations, MemoryErrors } from "@heddle/memory"
import { layer } from "@heddle/memory/keyValueStore"
import { conversations, conversationsAgree } from "@heddle/memory/testing"
import { Effect, Either, Layer, TestClock } from "effect"
import { type Change, error, fragile, type Kill } from "./fragileStore.ts"

const { main, own } = Conversations

/** A folder that is there as long as the layer is. */
const folder = Layer.unwrapScoped(
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    return KeyValueStore.layerFileSystem(yield* files.makeTempDirectoryScoped())
  })
).pipe(Layer.provide(NodeContext.layer))

const inMemory = Layer.provide(layer, KeyValueStore.layerMemory)

conversations("the store over a key-value store in memory keeps the rules", inMemory)
conversations("the store over files keeps the rules", Layer.provide(layer, folder))
conversationsAgree("the store over a key-value store does what the one in memory does", inMemory, { runs: 100 })
conversationsAgree("the store over files does what the one in memory does", Layer.provide(layer, folder), { runs: 10 })

const exchange = (text: string): Conversations.NewExchange => ({ agent: "helper", messages: [Message.user(text)] })
const texts = (exchanges: ReadonlyArray<Conversations.Exchange>) =>
  exchanges.map(({ messages }) => Message.text(messages[0]!))

type Program<A> = Effect.Effect<A, unknown, Conversations.Conversations>

/** Runs a program as a process would that opens the store anew. */
const open = <A, E>(store: KeyValueStore.KeyValueStore, program: Effect.Effect<A, E, Conversations.Conversations>) =>
  Effect.provide(program, Layer.provide(layer, Layer.succeed(KeyValueStore.KeyValueStore, store)))

const ask = <A, E>(f: (store: Conversations.Service) => Effect.Effect<A, E>) =>
  Effect.flatMap(Conversations.Conversations, f)

// -----------------------------------------------------------------------------
// a process that is killed
// -----------------------------------------------------------------------------

const a = main("a")
const b = own("a", "b")
const append = (key: Conversations.ConversationKey, text: string): Program<unknown> =>
  ask((store) => store.append(key, exchange(text)))
const put = (key: Conversations.ConversationKey, ...said: ReadonlyArray<string>): Program<unknown> =>
  ask((store) =>
    Effect.flatMap(store.read(key, { last: 0 }), ({ info }) => store.replace(key, said.map(exchange), info))
  )
const summarize = (key: Conversations.ConversationKey, text: string): Program<unknown> =>
  ask((store) =>
    Effect.flatMap(store.read(key, { last: 0 }), ({ info }) => store.summarize(key, { text, through: 1 }, info!))
  )
const clear = (key: Conversations.ConversationKey): Program<unknown> => ask((store) => store.clear(key))
const remove = (key: Conversations.ConversationKey): Program<unknown> => ask((store) => store.remove(key))

const steps: ReadonlyArray<Program<unknown>> = [
  append(a, "1"),
  append(a, "2"),
  append(b, "1 of b"),
  summarize(a, "short"),
  append(a, "3"),
  put(a, "x", "y", "z"),
  append(a, "4"),
  put(a, "only"),
  clear(a),
  append(a, "5"),
  put(b),
  remove(a),
  append(a, "6"),
  remove(b),
  put(b, "2 of b", "3 of b")
]

/** All that a reader sees, but for times and generations. */
const state = Effect.gen(function* () {
  const store = yield* Conversations.Conversations
  const { conversations } = yield* store.list({ limit: Infinity })
  const found = yield* Effect.forEach([a, b], (key) => store.read(key))
  return JSON.stringify([
    conversations.map(({ exchanges, key, messages, summarized }) => ({ exchanges, key, messages, summarized })),
    found.map(({ exchanges, info, summary }) => [info?.exchanges, texts(exchanges), summary?.text])
  ])
})

/** What is to be seen before the first step, and after each. */
const states = Effect.provide(
  Effect.gen(function* () {
    const found = [yield* state]
    for (const step of steps) found.push(yield* Effect.zipRight(step, state))
    return found
  }),
  Conversations.layerMemory()
)

/** Takes the steps from one on, until the process is killed. Gives how many were acknowledged. */
const takeFrom = (store: KeyValueStore.KeyValueStore, first: number) =>
  open(
    store,
    Effect.gen(function* () {
      for (let n = first; n < steps.length; n++) if (Either.isLeft(yield* Effect.either(steps[n]!))) return n
      return steps.length
    })
  )

/** Checks that all that was acknowledged before a kill is there, nothing is half there, and all goes on as if nothing had been. */
const survives = (kill: Kill, wanted: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const values = new Map<string, string>()
    const taken = yield* takeFrom(fragile(values, kill), 0)
    const found = yield* open(fragile(values), state)
    const reached = found === wanted[taken] ? taken : taken + 1
    expect(found).toBe(wanted[reached])
    expect(yield* takeFrom(fragile(values), reached)).toBe(steps.length)
    expect(yield* open(fragile(values), state)).toBe(wanted.at(-1))
    yield* open(fragile(values), Effect.zipRight(remove(a), remove(b)))
    expect([...values.keys()].filter((key) => !key.startsWith("chunk."))).toEqual([])
  })

/** The changes that the steps make of the values. */
const allChanges = Effect.map(
  Effect.sync((): Array<Change> => []),
  (changes) => Effect.as(takeFrom(fragile(new Map(), undefined, changes), 0), changes)
).pipe(Effect.flatten)

describe("a process that is killed while it changes a value", () => {
  it.effect("loses nothing that was acknowledged, and leaves nothing half, whichever change it is", () =>
    Effect.gen(function* () {
      const wanted = yield* states
      const changes = yield* allChanges
      for (const [after] of changes.entries()) {
        for (const part of [0, 0.5, 1]) {
          yield* survives({ after, cut: (text) => text.slice(0, Math.floor(text.length * part)) }, wanted)
        }
      }
    })
  )
  it.effect("may have written any part of what is known of a conversation, or of the chunk with its key", () =>
    Effect.gen(function* () {
      const wanted = yield* states
      const changes = yield* allChanges
      // Of a conversation that is new, and of its first exchange.
      const firsts = ["chunk.", "head."].map((kind) =>
        changes.findIndex(({ key }, n) => key.startsWith(kind) && changes[n - 1]?.key.startsWith(kind))
      )
      for (const after of [...firsts, firsts[1]! + 2]) {
        expect(changes[after]!.key).toMatch(/^(chunk|head)\./)
        for (let bytes = 0; bytes < changes[after]!.text!.length; bytes++) {
          yield* survives({ after, cut: (text) => text.slice(0, bytes) }, wanted)
        }
      }
    })
  )
  it.effect("may have left zeros in the place of the end", () =>
    Effect.gen(function* () {
      const wanted = yield* states
      for (const [after, { text }] of (yield* allChanges).entries()) {
        if (text === undefined) continue
        yield* survives({ after, cut: (text) => text.slice(0, -10).padEnd(text.length, "\0") }, wanted)
      }
    })
  )
})

// -----------------------------------------------------------------------------
// values
// -----------------------------------------------------------------------------

describe("values", () => {
  it.effect("a folder that is opened again has what it had", () =>
    Effect.gen(function* () {
      const path = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped())
      const store = Layer.provide(layer, KeyValueStore.layerFileSystem(path))
      const before = yield* Effect.provide(Effect.zipRight(Effect.all(steps), state), store)
      expect(before).toBe((yield* states).at(-1))
      expect(yield* Effect.provide(state, store)).toBe(before)
      yield* Effect.provide(append(a, "7"), store)
      const { exchanges } = yield* Effect.provide(
        ask((store) => store.read(a)),
        store
      )
      expect(texts(exchanges)).toEqual(["6", "7"])
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
  )
  it.effect("appending is two changes, however long the conversation is", () =>
    Effect.gen(function* () {
      const changes: Array<Change> = []
      const made: Array<number> = []
      const count = Effect.sync(() => made.push(changes.splice(0).length))
      const store = fragile(new Map(), undefined, changes)
      yield* open(store, Effect.repeatN(Effect.zipRight(append(a, "x"), count), 200))
      expect(new Set(made.slice(1))).toEqual(new Set([2]))
      // The chunk and the head twice, since both are new.
      expect(made[0]).toBe(5)
    })
  )
  it.effect("beginning a conversation is as many changes with a thousand others as with one", () =>
    Effect.gen(function* () {
      const changes: Array<Change> = []
      const store = fragile(new Map(), undefined, changes)
      const begin = (n: number) => append(main(`s${n}`), "x")
      yield* open(
        store,
        Effect.forEach(Array.from({ length: 1000 }), (_, n) => begin(n), { concurrency: 50 })
      )
      changes.length = 0
      yield* open(store, begin(1000))
      expect(changes.length).toBe(4)
      expect(Math.max(...changes.map(({ text }) => text!.length))).toBeLessThan(10_000)
      const { conversations } = yield* open(
        store,
        ask((store) => store.list({ limit: Infinity }))
      )
      expect(conversations.length).toBe(1001)
    })
  )
  it.effect("room of conversations that were removed is used again", () =>
    Effect.gen(function* () {
      const values = new Map<string, string>()
      const run = Effect.forEach(Array.from({ length: 200 }), (_, n) =>
        Effect.zipRight(append(main(`s${n}`), "x"), remove(main(`s${n}`)))
      )
      yield* open(fragile(values), run)
      expect([...values.keys()].toSorted()).toEqual(["chunk.0.a", "chunk.0.b"])
    })
  )
  it.effect("no exchange of a conversation that was cleared or replaced stays", () =>
    Effect.gen(function* () {
      const values = new Map<string, string>()
      yield* open(
        fragile(values),
        Effect.all([append(a, "1"), append(a, "2"), put(a, "x"), put(a, "y", "z"), clear(a)])
      )
      expect([...values.keys()].filter((key) => key.startsWith("exchange."))).toEqual([])
    })
  )
  it.effect("a thousand exchanges that are appended at once are all kept", () =>
    Effect.gen(function* () {
      const said = Array.from({ length: 1000 }, (_, n) => `${n}`)
      yield* Effect.forEach(said, (text) => append(a, text), { concurrency: "unbounded", discard: true })
      const { exchanges } = yield* ask((store) => store.read(a))
      expect(texts(exchanges).toSorted()).toEqual(said.toSorted())
      expect(exchanges.map(({ position }) => position)).toEqual(said.map((_, n) => n + 1))
    }).pipe(Effect.provide(Layer.provide(layer, folder)))
  )
  it.effect("one who is interrupted while waiting for a conversation leaves it to others", () =>
    Effect.gen(function* () {
      const writers = yield* Effect.forEach(Array.from({ length: 20 }), (_, n) => Effect.fork(append(a, `${n}`)))
      yield* Effect.yieldNow()
      yield* Effect.forEach(writers.slice(5), (writer) => Effect.sync(() => writer.unsafeInterruptAsFork(writer.id())))
      yield* append(a, "last")
      expect(texts((yield* ask((store) => store.read(a))).exchanges).at(-1)).toBe("last")
    }).pipe(Effect.provide(inMemory))
  )
})

// -----------------------------------------------------------------------------
// what goes wrong
// -----------------------------------------------------------------------------

/** What an operation of a store with these values fails with. */
const failing = (store: KeyValueStore.KeyValueStore, program: Program<unknown>) =>
  Effect.map(open(store, Effect.flip(program)), (error) => {
    expect(error).toBeInstanceOf(MemoryErrors.ConversationsUnavailable)
    return error as MemoryErrors.ConversationsUnavailable
  })

describe("what goes wrong is ConversationsUnavailable, and", () => {
  it.effect("says which operation on which conversation, with what the key-value store said", () =>
    Effect.gen(function* () {
      const values = new Map<string, string>()
      yield* open(fragile(values), append(a, "1"))
      const dead = () => fragile(values, { after: -1, cut: () => "" })
      const operations: Record<string, Program<unknown>> = {
        read: ask((store) => store.read(a)),
        append: append(a, "2"),
        replace: ask((store) => store.replace(a, [], undefined)),
        summarize: ask((store) => store.summarize(a, { text: "", through: 1 }, { generation: "", summarized: 0 })),
        clear: clear(a),
        remove: remove(a)
      }
      for (const [operation, program] of Object.entries(operations)) {
        expect(yield* failing(dead(), program)).toMatchObject({ operation, key: a, cause: error })
      }
      const listing = yield* failing(
        dead(),
        ask((store) => store.list({ limit: 1 }))
      )
      expect(listing).toMatchObject({ operation: "list", cause: error })
      expect(listing.key).toBeUndefined()
    })
  )
  it.effect("names the value that is damaged", () =>
    Effect.gen(function* () {
      const values = new Map<string, string>()
      yield* open(fragile(values), Effect.all([append(a, "1"), append(a, "2")]))
      const heads = [...values.keys()].filter((key) => key.startsWith("head."))
      const [first, second] = [...values.keys()].filter((key) => key.startsWith("exchange."))
      const read = ask((store) => store.read(a))
      const message = (change: (values: Map<string, string>) => void) =>
        Effect.map(
          Effect.suspend(() => {
            const changed = new Map(values)
            change(changed)
            return failing(fragile(changed), read)
          }),
          (error) => error.message
        )
      expect(yield* message((values) => values.set(second!, "{"))).toContain(`The value of "${second}" is damaged: `)
      expect(yield* message((values) => values.delete(second!))).toContain(`"${second}" is damaged: It is missing.`)
      expect(yield* message((values) => values.set(second!, values.get(first!)!))).toContain(
        `"${second}" is damaged: It is the one at position 1.`
      )
      const wrong = JSON.stringify({ agent: "a", position: 2, at: 0, messages: [{ role: "user", content: [1] }] })
      expect(yield* message((values) => values.set(second!, wrong))).toContain(`"${second}" is damaged: `)
      const both = yield* message((values) => heads.forEach((key) => values.set(key, "no head")))
      for (const key of heads) expect(both).toContain(key)
    })
  )
  it.effect("an exchange that is not JSON changes nothing", () =>
    Effect.gen(function* () {
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      for (const value of [10n, circle]) {
        const error = yield* Effect.flip(
          ask((store) =>
            store.append(a, { agent: "helper", messages: [{ ...Message.user("?"), metadata: { value } }] })
          )
        )
        expect(error).toMatchObject({ _tag: "ConversationsUnavailable", operation: "append" })
      }
      expect(yield* ask((store) => store.read(a))).toEqual({ exchanges: [] })
    }).pipe(Effect.provide(inMemory))
  )
  it.effect("but reading goes on if it cannot be noted", () =>
    Effect.gen(function* () {
      const values = new Map<string, string>()
      yield* open(fragile(values), append(a, "1"))
      yield* TestClock.adjust("1 hour")
      const broken = { ...fragile(values), set: () => Effect.fail(error) }
      const { exchanges } = yield* open(
        broken,
        ask((store) => store.read(a))
      )
      expect(texts(exchanges)).toEqual(["1"])
    })
  )
})
