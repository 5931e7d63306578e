import { describe, expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { DatabaseError, SqlConversations } from "@heddle/sql"
import { layer, type Options } from "@heddle/sql/libsql"
import { Conversations } from "@heddle/memory"
import { Message } from "@heddle/core"
import { Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { chmodSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { file, folder, ownFile } from "./support/files.ts"

const client = SqlClient.SqlClient
const key = Conversations.main("ada")
const exchange = { agent: "helper", messages: [Message.user("Hi"), Message.assistant("word ".repeat(300))] }

const append = Effect.flatMap(Conversations.Conversations, (store) => store.append(key, exchange))
const read = Effect.flatMap(Conversations.Conversations, (store) => store.read(key))
const conversations = (options: Options) => Layer.provideMerge(SqlConversations.layer, layer(options))

/** A file with a conversation, that nobody has had open. */
const written = (exchanges: number) =>
  Effect.gen(function* () {
    const filename = yield* file
    yield* Effect.provide(Effect.replicateEffect(append, exchanges), conversations({ filename }))
    const copy = join(dirname(filename), "copy.db")
    writeFileSync(copy, readFileSync(filename))
    return copy
  })

/** What opening a file fails with. */
const refusal = (filename: string, options?: Omit<Options, "filename">) =>
  Effect.flip(Effect.provide(Effect.asVoid(client), layer({ ...options, filename })))

const saysWhy = (error: DatabaseError.DatabaseError, filename: string, reason: string, advice: string) => {
  expect(error).toBeInstanceOf(DatabaseError.DatabaseError)
  expect(error.reason).toBe(reason)
  expect(error.message).toContain(filename)
  expect(error.message).toContain(advice)
}

const pragma = (name: string) =>
  Effect.flatMap(client, (sql) => Effect.map(sql.unsafe(`PRAGMA ${name}`).values, ([row]) => row![0]))

describe("opening", () => {
  it.scoped("makes the folder and the file, with a write-ahead log", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "a", "b", "c.db")
      const mode = yield* Effect.provide(pragma("journal_mode"), layer({ filename }))
      expect(mode).toBe("wal")
      expect(existsSync(filename)).toBe(true)
    })
  )
  it.effect.each([
    ["normal", 1],
    ["full", 2]
  ] as const)("synchronous is %s on the connection, also after transactions", ([synchronous, wanted]) =>
    Effect.gen(function* () {
      const sql = yield* client
      yield* sql.withTransaction(sql`CREATE TABLE t (a)`)
      yield* Effect.exit(sql.withTransaction(sql`SELECT * FROM nothing`))
      expect(yield* pragma("synchronous")).toBe(wanted)
      expect(yield* sql.withTransaction(pragma("synchronous"))).toBe(wanted)
    }).pipe(Effect.provide(ownFile({ synchronous })))
  )
  it.scoped("what was in the log is in the file when it was closed", () =>
    Effect.gen(function* () {
      // A copy of the file alone.
      const { exchanges } = yield* Effect.provide(read, conversations({ filename: yield* written(20) }))
      expect(exchanges).toHaveLength(20)
    })
  )
  it.scoped("tells that the path is a folder", () =>
    Effect.gen(function* () {
      const path = yield* folder
      saysWhy(yield* refusal(path), path, "Unavailable", "is a folder")
    })
  )
  it.scoped("tells that a folder cannot be made", () =>
    Effect.gen(function* () {
      const filename = join(yield* written(1), "below", "x.db")
      saysWhy(yield* refusal(filename), filename, "Unavailable", "Check that it is there")
    })
  )
  it.scoped("tells that the file is no database", () =>
    Effect.gen(function* () {
      const filename = yield* file
      writeFileSync(filename, "Dear diary, ".repeat(100))
      saysWhy(yield* refusal(filename), filename, "NotADatabase", "move the file away")
    })
  )
  it.scoped.each(["quick", "full"] as const)("tells that the file was cut off (%s check)", (integrityCheck) =>
    Effect.gen(function* () {
      const filename = yield* written(50)
      truncateSync(filename, 40_000)
      saysWhy(yield* refusal(filename, { integrityCheck }), filename, "Damaged", "backup")
    })
  )
  it.scoped("tells that a part of the file was overwritten", () =>
    Effect.gen(function* () {
      const filename = yield* written(50)
      const bytes = readFileSync(filename)
      writeFileSync(filename, bytes.fill(0xa5, 120_000, 180_000))
      saysWhy(yield* refusal(filename), filename, "Damaged", "backup")
    })
  )
  it.scoped("tells of damage when it reads it, if nothing was checked before", () =>
    Effect.gen(function* () {
      const filename = yield* written(50)
      const bytes = readFileSync(filename)
      writeFileSync(filename, bytes.fill(0xa5, 120_000, 180_000))
      const error = yield* Effect.flip(Effect.provide(read, conversations({ filename, integrityCheck: "none" })))
      expect(error._tag).toBe("ConversationsUnavailable")
      expect(error).toHaveProperty("cause.reason", "Damaged")
      expect(error.message).toContain("backup")
    })
  )
  it.scoped("tells that another program has the file for itself, when it has waited", () =>
    Effect.gen(function* () {
      const filename = yield* written(1)
      const alone = Effect.gen(function* () {
        const sql = yield* client
        yield* sql`PRAGMA locking_mode = EXCLUSIVE`
        yield* sql.withTransaction(sql`CREATE TABLE mine (a)`)
        saysWhy(yield* refusal(filename, { busyTimeout: "20 millis" }), filename, "Locked", "Close that")
      })
      yield* Effect.provide(alone, layer({ filename }))
    })
  )
  it.scoped("tells that the file may not be written", () =>
    Effect.gen(function* () {
      const filename = yield* written(1)
      chmodSync(filename, 0o444)
      chmodSync(dirname(filename), 0o777)
      const error = yield* asNobody(refusal(filename))
      saysWhy(error, filename, "ReadOnly", "permissions")
    })
  )
  it.scoped("tells that the file may not be read", () =>
    Effect.gen(function* () {
      const filename = yield* written(1)
      chmodSync(filename, 0)
      chmodSync(dirname(filename), 0o777)
      saysWhy(yield* asNobody(refusal(filename)), filename, "Unavailable", "may be opened")
    })
  )
  it.scoped("gives a database in memory, a new one each time", () =>
    Effect.gen(function* () {
      const memory = conversations({ filename: ":memory:" })
      expect((yield* Effect.provide(Effect.zipRight(append, read), memory)).exchanges).toHaveLength(1)
      expect((yield* Effect.provide(read, memory)).exchanges).toHaveLength(0)
    })
  )
})

/** Root may write anything. */
const asNobody = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  process.geteuid?.() === 0
    ? Effect.acquireUseRelease(
        Effect.sync(() => process.seteuid!(65_534)),
        () => effect,
        () => Effect.sync(() => process.seteuid!(0))
      )
    : effect

describe("transactions", () => {
  const table = Effect.flatMap(client, (sql) => sql`CREATE TABLE t (a INTEGER)`)
  const add = (n: number) => Effect.flatMap(client, (sql) => sql`INSERT INTO t VALUES (${n})`)
  const all = Effect.flatMap(client, (sql) =>
    Effect.map(sql<{ a: number }>`SELECT a FROM t ORDER BY a`, (rows) => rows.map(({ a }) => a))
  )

  it.effect("a statement of another fiber does not slip into an open transaction", () =>
    Effect.gen(function* () {
      const sql = yield* client
      yield* table
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const first = yield* Effect.fork(
        sql.withTransaction(
          Effect.all([add(1), Deferred.succeed(begun, undefined), Deferred.await(go), Effect.fail("undone")])
        )
      )
      yield* Deferred.await(begun)
      const others = yield* Effect.fork(
        Effect.forEach([2, 3, 4], (n) => (n === 3 ? sql.withTransaction(add(n)) : add(n)), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow()
      yield* Deferred.succeed(go, undefined)
      expect(yield* Effect.flip(Fiber.join(first))).toBe("undone")
      yield* Fiber.join(others)
      expect(yield* all).toEqual([2, 3, 4])
    }).pipe(Effect.provide(ownFile()))
  )
  it.effect("an interruption undoes a transaction, and the next one runs", () =>
    Effect.gen(function* () {
      const sql = yield* client
      yield* table
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        sql.withTransaction(Effect.all([add(1), Deferred.succeed(begun, undefined), Effect.never]))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* sql.withTransaction(add(2))
      expect(yield* all).toEqual([2])
    }).pipe(Effect.provide(ownFile()))
  )
  it.effect("one within another is undone alone", () =>
    Effect.gen(function* () {
      const sql = yield* client
      yield* table
      yield* sql.withTransaction(
        Effect.all([add(1), Effect.exit(sql.withTransaction(Effect.zipRight(add(2), Effect.fail("undone")))), add(3)])
      )
      expect(yield* all).toEqual([1, 3])
    }).pipe(Effect.provide(ownFile()))
  )
  it.effect("one that cannot be committed is undone, fails the operation, and the next one runs", () =>
    Effect.gen(function* () {
      const sql = yield* client
      yield* sql`PRAGMA foreign_keys = ON`
      yield* sql`CREATE TABLE u (a INTEGER PRIMARY KEY)`
      yield* sql`CREATE TABLE t (a INTEGER REFERENCES u (a) DEFERRABLE INITIALLY DEFERRED)`
      expect(Exit.isFailure(yield* Effect.exit(sql.withTransaction(add(1))))).toBe(true)
      yield* sql.withTransaction(Effect.zipRight(sql`INSERT INTO u VALUES (2)`, add(2)))
      expect(yield* all).toEqual([2])
    }).pipe(Effect.provide(ownFile()))
  )
  it.effect("of one that the database itself has undone, nothing is kept, neither what comes after that", () =>
    Effect.gen(function* () {
      const sql = yield* client
      yield* sql`CREATE TABLE t (a INTEGER UNIQUE)`
      const undone = Effect.exit(sql`INSERT OR ROLLBACK INTO t VALUES (1)`)
      const exit = yield* Effect.exit(sql.withTransaction(Effect.all([add(1), undone, add(2)])))
      expect(Exit.isFailure(exit)).toBe(true)
      expect(Exit.isFailure(yield* Effect.exit(sql.withTransaction(Effect.all([add(1), undone]))))).toBe(true)
      expect(yield* all).toEqual([])
      yield* sql.withTransaction(add(3))
      expect(yield* all).toEqual([3])
    }).pipe(Effect.provide(ownFile()))
  )
  it.effect("a connection can be kept without one", () =>
    Effect.gen(function* () {
      yield* table
      const connection = yield* Effect.flatMap(client, (sql) => sql.reserve)
      yield* connection.execute("INSERT INTO t VALUES (?)", [1], undefined)
      expect(yield* connection.executeValues("SELECT a FROM t", [])).toEqual([[1]])
    }).pipe(Effect.scoped, Effect.provide(ownFile()))
  )
})

it.effect("a disk that is full is told of, and what was there stays", () =>
  Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    yield* append
    const pages = Number(yield* pragma("page_count"))
    yield* pragma(`max_page_count = ${pages}`)
    const error = yield* Effect.flip(Effect.forever(store.append(key, exchange)))
    expect(error).toMatchObject({ _tag: "ConversationsUnavailable", cause: { reason: "Full" } })
    const { exchanges, info } = yield* read
    expect(exchanges).toHaveLength(info!.exchanges)
    yield* pragma(`max_page_count = ${pages + 100}`)
    expect((yield* append).exchanges).toBe(exchanges.length + 1)
  }).pipe(Effect.provide(Layer.provideMerge(SqlConversations.layer, ownFile())))
)

it.scoped("exchanges that two clients append to one conversation at the same time are all kept, in one order", () =>
  Effect.gen(function* () {
    const filename = yield* file
    const clients = yield* Effect.forEach([1, 2], () => Layer.build(conversations({ filename })))
    const infos = yield* Effect.forEach(
      Array.from({ length: 1000 }, (_, n) => clients[n % 2]!),
      (context) => Effect.provide(append, context),
      { concurrency: "unbounded" }
    )
    const wanted = Array.from({ length: 1000 }, (_, n) => n + 1)
    expect(infos.map(({ exchanges }) => exchanges).toSorted((a, b) => a - b)).toEqual(wanted)
    const { exchanges } = yield* Effect.provide(read, clients[0]!)
    expect(exchanges.map(({ position }) => position)).toEqual(wanted)
  })
)

it.effect("values come back as a column can have them", () =>
  Effect.gen(function* () {
    const sql = yield* client
    const values = [1, 1.5, true, null, "text", new Date(5), 10n]
    const [row] = yield* sql`SELECT ${sql.csv(values.map((value) => sql`${value}`))}`.values
    expect(row).toEqual([1, 1.5, 1, null, "text", 5, 10])
    const large = sql<{ n: bigint }>`SELECT ${2n ** 60n} AS n`
    expect(yield* Effect.provideService(large, SqlClient.SafeIntegers, true)).toEqual([{ n: 2n ** 60n }])
    yield* sql`CREATE TABLE t (a)`
    expect(yield* sql`INSERT INTO t VALUES (1), (2)`.raw).toMatchObject([{ changes: 2 }])
    expect(yield* sql`UPDATE t SET a = a + 1`).toEqual([])
    expect(Array.from(yield* Stream.runCollect(sql`SELECT a FROM t`.stream))).toEqual([{ a: 2 }, { a: 3 }])
  }).pipe(Effect.provide(ownFile()))
)

it.effect("more texts of statements than are kept prepared can be used", () =>
  Effect.gen(function* () {
    const sql = yield* client
    for (let n = 0; n < 450; n++) expect(yield* sql.unsafe(`SELECT ${n} AS n`)).toEqual([{ n }])
    expect(yield* sql.unsafe("SELECT 0 AS n")).toEqual([{ n: 0 }])
  }).pipe(Effect.provide(ownFile()))
)

it.scoped("a database of a newer version is refused, and stays as it is", () =>
  Effect.gen(function* () {
    const filename = yield* written(1)
    const newer = Effect.flatMap(client, (sql) => sql`INSERT INTO heddle_layouts (layout) VALUES (99)`)
    yield* Effect.provide(newer, layer({ filename }))
    const before = readFileSync(filename)
    const error = yield* Effect.flip(Effect.provide(append, conversations({ filename })))
    expect(error).toMatchObject({ _tag: "DatabaseError", reason: "Newer" })
    expect(error.message).toContain("Update @heddle/sql")
    expect(readFileSync(filename).equals(before)).toBe(true)
  })
)
