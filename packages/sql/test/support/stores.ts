/** What is tested on every kind of database. */
import { describe, expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Message } from "@heddle/core"
import { Conversations, type MemoryErrors } from "@heddle/memory"
import { SqlConversations, SqlHistoryStore } from "@heddle/sql"
import { HistoryStore, type WorkflowErrors } from "@heddle/workflow"
import { Context, Effect, Layer, TestClock } from "effect"

const key = Conversations.main("ada")
const exchange = { agent: "helper", messages: [Message.user("Hi"), Message.assistant("Hello!")] }

export const append = Effect.flatMap(Conversations.Conversations, (store) => store.append(key, exchange))
export const read = Effect.flatMap(Conversations.Conversations, (store) => store.read(key))

const statement = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Readonly<Record<string, unknown>>>(text))
const history = HistoryStore.HistoryStore

const storesOn = <E>(database: Layer.Layer<SqlClient.SqlClient, E>) =>
  Layer.provideMerge(Layer.mergeAll(SqlConversations.layer, SqlHistoryStore.layer), database)

const run = (runId: string) =>
  ({ runId, sessionId: "s", workflow: "w", status: "completed", startedAt: 0, endedAt: 1, steps: [] }) as const

/** All that is in the stores. */
const all = Effect.gen(function* () {
  const conversations = yield* Conversations.Conversations
  const runs = yield* history
  return {
    read: (yield* read).exchanges.length,
    listed: (yield* conversations.list({ limit: 5 })).conversations.map(({ key, exchanges }) => [key, exchanges]),
    last: (yield* runs.last("s", 5, ["completed"])).map(({ runId }) => runId),
    sessions: (yield* runs.sessions({ limit: 5 })).sessions.map(({ sessionId, runs }) => [sessionId, runs])
  }
})

/** All that changes something in the stores. */
const changes = Effect.gen(function* () {
  const conversations = yield* Conversations.Conversations
  const runs = yield* history
  const { info } = yield* read
  const all: ReadonlyArray<
    Effect.Effect<
      unknown,
      MemoryErrors.ConversationsUnavailable | MemoryErrors.ConversationChanged | WorkflowErrors.HistoryUnavailable
    >
  > = [
    conversations.append(key, exchange),
    conversations.replace(key, [], info),
    conversations.summarize(key, { text: "Short", through: 1 }, info!),
    conversations.clear(key),
    conversations.remove(key),
    runs.append(run("late")),
    runs.remove("s")
  ]
  return all
})

/** The stores in `mine`, in transactions of `theirs`. Each layer gives a database of its own each time that it is built. */
export const apart = <E, F>(
  name: string,
  mine: Layer.Layer<SqlClient.SqlClient, E>,
  theirs: Layer.Layer<SqlClient.SqlClient, F>
) =>
  describe(name, () => {
    it.scoped("they read what they have, and refuse to write", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* Layer.build(storesOn(mine)), yield* Layer.build(storesOn(theirs))]
        yield* Effect.all([append, Effect.flatMap(history, (runs) => runs.append(run("mine")))]).pipe(Effect.provide(a))
        yield* Effect.all([append, append, Effect.flatMap(history, (runs) => runs.append(run("theirs")))]).pipe(
          Effect.provide(b)
        )
        const mineHas = { read: 1, listed: [[key, 1]], last: ["mine"], sessions: [["s", 1]] }
        const theirsHas = { read: 2, listed: [[key, 2]], last: ["theirs"], sessions: [["s", 1]] }
        yield* Context.get(b, SqlClient.SqlClient).withTransaction(
          Effect.gen(function* () {
            expect(yield* Effect.provide(all, a)).toEqual(mineHas)
            for (const change of yield* Effect.provide(changes, a)) {
              const error = yield* Effect.flip(change)
              expect(error.message).toContain("the open transaction is one of another database")
              expect(error).toHaveProperty("cause._tag", "DatabaseError")
            }
            yield* Effect.provide(append, b)
          })
        )
        expect(yield* Effect.provide(all, a)).toEqual(mineHas)
        expect(yield* Effect.provide(all, b)).toEqual({ ...theirsHas, read: 3, listed: [[key, 3]] })
      })
    )

    it.scoped("they begin, and leave it alone", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* Layer.build(mine), yield* Layer.build(theirs)]
        const stores = yield* Context.get(b, SqlClient.SqlClient).withTransaction(
          Effect.gen(function* () {
            const stores = yield* Layer.build(storesOn(Layer.succeedContext(a)))
            expect(yield* Effect.provide(read, stores)).toEqual({ exchanges: [] })
            yield* Effect.provide(statement("CREATE TABLE theirs (a INTEGER)"), b)
            return stores
          })
        )
        yield* Effect.provide(statement("INSERT INTO theirs VALUES (1)"), b)
        expect(String(yield* Effect.flip(Effect.provide(statement("SELECT * FROM heddle_runs"), b)))).toContain("Sql")
        yield* Effect.provide(append, stores)
        expect((yield* Effect.provide(all, stores)).read).toBe(1)
      })
    )
  })

/** The layer gives a database of its own each time that it is built. */
export const onEveryDatabase = <E>(database: Layer.Layer<SqlClient.SqlClient, E>) => {
  const stores = storesOn(database)

  apart("a transaction of another such database is none of the stores'", database, database)

  it.effect("1,000 exchanges that are appended to one conversation at the same time are all kept, in one order", () =>
    Effect.gen(function* () {
      const store = yield* Conversations.Conversations
      const numbers = Array.from({ length: 1000 }, (_, n) => n)
      const infos = yield* Effect.forEach(
        numbers,
        (n) => store.append(key, { agent: `${n}`, messages: [Message.user(`${n} `.repeat(100))] }),
        { concurrency: "unbounded" }
      )
      const { exchanges } = yield* store.read(key)
      expect(exchanges.map(({ position }) => position)).toEqual(numbers.map((n) => n + 1))
      // Each was told the position that it has.
      expect(infos.map(({ exchanges }) => exchanges)).toEqual(
        numbers.map((n) => exchanges.find(({ agent }) => agent === `${n}`)?.position)
      )
      for (const { agent, messages } of exchanges) expect(messages).toEqual([Message.user(`${agent} `.repeat(100))])
    }).pipe(Effect.provide(stores))
  )

  it.effect("a read within a minute of the last access writes nothing", () =>
    Effect.gen(function* () {
      yield* append
      const noted = Effect.map(
        statement("SELECT accessed_at FROM heddle_conversations"),
        ([row]) => row!["accessed_at"]
      )
      yield* TestClock.adjust(59_999)
      expect((yield* read).info!.lastAccessedAt).toBe(0)
      expect(yield* noted).toBe(0)
      yield* TestClock.adjust(1)
      expect((yield* read).info!.lastAccessedAt).toBe(60_000)
      expect(yield* noted).toBe(60_000)
    }).pipe(Effect.provide(stores))
  )

  it.effect.each([
    ["is no JSON", `'{"agent": '`],
    ["has a part missing", `'{"agent": "x", "position": 1, "at": 1}'`]
  ])("an exchange whose text %s is told of as damage", ([, content]) =>
    Effect.gen(function* () {
      yield* append
      yield* statement(`UPDATE heddle_exchanges SET content = ${content}`)
      const error = yield* Effect.flip(read)
      expect(error).toMatchObject({
        _tag: "ConversationsUnavailable",
        operation: "read",
        key,
        cause: { reason: "Damaged" }
      })
      expect(error.message).toContain("is not what was written")
      expect(error.message.length).toBeLessThan(600)
    }).pipe(Effect.provide(stores))
  )

  it.effect("a run whose record is not what was written is told of as damage", () =>
    Effect.gen(function* () {
      const run = { runId: "r", workflow: "w", status: "completed", startedAt: 0, endedAt: 1, steps: [] } as const
      yield* (yield* history).append({ ...run, sessionId: "s" })
      yield* statement(`UPDATE heddle_runs SET record = '{"runId": 1}'`)
      const error = yield* Effect.flip((yield* history).last("s", 1, ["completed"]))
      expect(error).toMatchObject({ _tag: "HistoryUnavailable", operation: "last", cause: { reason: "Damaged" } })
    }).pipe(Effect.provide(stores))
  )

  it.effect("a second run of one id is refused with an error that says so", () =>
    Effect.gen(function* () {
      const run = { runId: "r1", workflow: "w", status: "completed", startedAt: 0, endedAt: 1, steps: [] } as const
      yield* (yield* history).append({ ...run, sessionId: "s" })
      const error = yield* Effect.flip((yield* history).append({ ...run, sessionId: "s" }))
      expect(error.message).toContain('has a run "r1" already')
    }).pipe(Effect.provide(stores))
  )

  it.effect("what is no JSON is refused, and nothing is kept of it", () =>
    Effect.gen(function* () {
      const circle: Array<unknown> = []
      circle.push(circle)
      const messages = [Message.assistant([Message.toolCall("1", "tool", circle, Message.succeeded(1n))])]
      const store = yield* Conversations.Conversations
      const error = yield* Effect.flip(store.append(key, { agent: "helper", messages }))
      expect(error.message).toContain("no JSON")
      expect(yield* store.read(key)).toEqual({ exchanges: [] })
      const run = { runId: "r", workflow: "w", status: "failed", startedAt: 0, endedAt: 1, steps: [] } as const
      expect(
        (yield* Effect.flip((yield* history).append({ ...run, sessionId: "s", input: circle }))).message
      ).toContain("no JSON")
      expect(yield* (yield* history).sessions({ limit: 5 })).toEqual({ sessions: [] })
    }).pipe(Effect.provide(stores))
  )

  it.effect("a program that has a transaction of its own can undo what it appended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* append
      yield* Effect.flip(sql.withTransaction(Effect.zipRight(append, Effect.fail("undone"))))
      expect((yield* read).exchanges).toHaveLength(1)
    }).pipe(Effect.provide(stores))
  )

  it.effect("tables that are missing are told of with the words of the database", () =>
    Effect.gen(function* () {
      yield* statement("DROP TABLE heddle_exchanges")
      const error = yield* Effect.flip(append)
      expect(error).toMatchObject({ operation: "append", cause: { reason: "Unknown" } })
      expect(error.message).toContain("heddle_exchanges")
    }).pipe(Effect.provide(stores))
  )

  it.effect("a database of a newer version is refused with what to do about it", () =>
    Effect.gen(function* () {
      const client = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      yield* statement("INSERT INTO heddle_layouts (layout) VALUES (99)")
      for (const store of [Layer.launch(SqlConversations.layer), Layer.launch(SqlHistoryStore.layer)]) {
        const error = yield* Effect.flip(Effect.provide(store, client))
        expect(error).toMatchObject({ _tag: "DatabaseError", reason: "Newer" })
        expect(error.message).toContain("layout 99")
        expect(error.message).toContain("Update @heddle/sql")
      }
    }).pipe(Effect.provide(stores))
  )
}
