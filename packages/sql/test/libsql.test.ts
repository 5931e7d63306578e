import { describe, expect, it } from "@effect/vitest"
import { SqlClient, SqlError } from "@effect/sql"
import { DatabaseError, SqlConversations } from "@heddle/sql"
import { layer, type Options } from "@heddle/sql/libsql"
import { Conversations } from "@heddle/memory"
import { Errors, Message } from "@heddle/core"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Stream } from "effect"
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
      // The exchanges come last, and take most of it.
      writeFileSync(filename, bytes.fill(0xa5, bytes.length * 0.6, bytes.length * 0.9))
      // What is read is no error to be printed: it is long.
      const reading = Effect.asVoid(Effect.provide(read, conversations({ filename, integrityCheck: "none" })))
      const error = yield* Effect.flip(reading)
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

describe("options", () => {
  const filename = "x.db"

  it.each<[name: string, options: unknown, words: string]>([
    ["no filename", {}, "filename is the path of a file"],
    ["an empty filename", { filename: "" }, "filename is the path of a file"],
    ["a blank filename", { filename: "  " }, "filename is the path of a file"],
    ["a filename that is no text", { filename: 5 }, "filename is the path of a file"],
    ["a URL as an object", { filename: new URL("file:///x.db") }, "filename is the path of a file"],
    ["a URL of a file", { filename: "file:x.db?mode=ro" }, "is a URL"],
    ["a URL of a file, in capitals", { filename: "FILE:///x.db" }, "is a URL"],
    ["a URL of a server", { filename: "libsql://example.org" }, "is a URL"],
    ["a time that is none", { filename, busyTimeout: "soon" }, "busyTimeout is"],
    ["a time below 0", { filename, busyTimeout: -5 }, "busyTimeout is"],
    ["a time below 0, as a text", { filename, busyTimeout: "-5 seconds" }, "busyTimeout is"],
    ["a time below 0, as a large number", { filename, busyTimeout: -5n }, "busyTimeout is"],
    ["a time below 0, in parts", { filename, busyTimeout: [-1, 0] }, "busyTimeout is"],
    ["a time that is no number", { filename, busyTimeout: NaN }, "busyTimeout is"],
    ["a time that is null", { filename, busyTimeout: null }, "busyTimeout is"],
    ["another synchronous", { filename, synchronous: "off" }, 'synchronous is "normal" or "full"'],
    ["a name that all objects have", { filename, synchronous: "toString" }, 'synchronous is "normal" or "full"'],
    ["a check that is true", { filename, integrityCheck: true }, 'integrityCheck is "quick", "full" or "none"'],
    ["another check", { filename, integrityCheck: "Quick" }, 'integrityCheck is "quick", "full" or "none"']
  ])("%s throws a DefinitionError", (_name, options, words) => {
    // What a program without types can say.
    const make = () => layer(options as Options)
    expect(make).toThrow(Errors.DefinitionError)
    expect(make).toThrow(words)
  })
  it.each<Options>([
    { filename },
    { filename: ":memory:" },
    { filename: "C:\\data\\x.db" },
    { filename: "notes:today.db" },
    { filename, busyTimeout: 0 },
    { filename, busyTimeout: Infinity },
    { filename, busyTimeout: 5n },
    { filename, busyTimeout: [1, 5] },
    { filename, busyTimeout: Duration.seconds(1) },
    { filename, synchronous: "full", integrityCheck: "none" }
  ])("%o is accepted", (options) => expect(Layer.isLayer(layer(options))).toBe(true))
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

describe("what goes on after its transaction", () => {
  const add = (n: number) => Effect.flatMap(client, (sql) => sql`INSERT INTO t VALUES (${n})`)
  const all = Effect.flatMap(client, (sql) => Effect.map(sql`SELECT a FROM t`.values, (rows) => rows.flat()))
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(client, (sql) => sql.withTransaction(effect))
  type Late = Effect.Effect<unknown, SqlError.SqlError, SqlClient.SqlClient>
  const own = Layer.provideMerge(
    Layer.effectDiscard(Effect.flatMap(client, (sql) => sql`CREATE TABLE t (a INTEGER)`)),
    Layer.provideMerge(SqlConversations.layer, ownFile())
  )

  /**
   * Begins `late` in a transaction that adds 1 and ends, so that it goes on in the transaction that adds 2 of
   * another fiber, and gives what `late` ends with.
   */
  const outlived = <A, E, R>(
    late: (go: Effect.Effect<void>) => Effect.Effect<A, E, R>,
    ending: Effect.Effect<void, string> = Effect.void
  ) =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<Fiber.RuntimeFiber<A, E>>()
      const go = yield* Deferred.make<void>()
      const beginning = Effect.gen(function* () {
        yield* add(1)
        yield* Deferred.succeed(begun, yield* Effect.forkDaemon(late(Deferred.await(go))))
        yield* Effect.yieldNow()
        return yield* ending
      })
      const first = yield* Effect.exit(within(beginning))
      const fiber = yield* Deferred.await(begun)
      const second = Effect.all([add(2), Deferred.succeed(go, undefined), Fiber.await(fiber)])
      const [, , exit] = yield* within(second)
      return { first, exit }
    })

  const refused = <A, E>(exit: Exit.Exit<A, E>) => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    // As an error, and no defect.
    expect(Exit.isFailure(exit) && Cause.isFailType(exit.cause)).toBe(true)
    expect(DatabaseError.fromCause("", error)).toMatchObject({ _tag: "DatabaseError", reason: "Unknown" })
    expect(DatabaseError.fromCause("", error).message).toContain("has ended")
  }

  it.effect.each<[name: string, effect: Late]>([
    ["a statement", add(9)],
    ["a transaction within it", within(add(9))],
    ["statements of which one has been run", Effect.asVoid(Effect.either(add(9))).pipe(Effect.zipRight(add(9)))],
    ["a stream", Effect.flatMap(client, (sql) => Stream.runDrain(sql`INSERT INTO t VALUES (9) RETURNING a`.stream))]
  ])("fails: %s", ([, effect]) =>
    Effect.gen(function* () {
      const { exit } = yield* outlived((go) => Effect.zipRight(go, effect))
      refused(exit)
      expect(yield* all).toEqual([1, 2])
    }).pipe(Effect.provide(own))
  )
  it.effect("an append that was acknowledged is never undone with the transaction of another fiber", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const late = yield* within(Effect.forkDaemon(Effect.zipRight(Deferred.await(go), append)))
      const undone = Effect.all([Deferred.succeed(go, undefined), Effect.exit(Fiber.join(late)), Effect.fail("undone")])
      expect(yield* Effect.flip(within(undone))).toBe("undone")
      const error = yield* Effect.flip(Fiber.join(late))
      expect(error).toMatchObject({ _tag: "ConversationsUnavailable", cause: { _tag: "DatabaseError" } })
      expect(error.message).toContain("has ended")
      expect((yield* read).exchanges).toHaveLength(0)
      yield* append
      expect((yield* read).exchanges).toHaveLength(1)
    }).pipe(Effect.provide(own))
  )
  it.effect.each<[name: string, effect: Late]>([
    ["fails by its next statement", add(9)],
    ["fails though it has no more statements, as nothing of it is kept", Effect.void]
  ])("a transaction within one that was undone %s", ([, effect]) =>
    Effect.gen(function* () {
      const { exit, first } = yield* outlived((go) => within(Effect.all([add(8), go, effect])), Effect.fail("undone"))
      expect(first).toEqual(Exit.fail("undone"))
      refused(exit)
      expect(yield* all).toEqual([2])
    }).pipe(Effect.provide(own))
  )
  it.effect("half of a transaction within another is never kept: that is not committed", () =>
    Effect.gen(function* () {
      const { exit, first } = yield* outlived((go) => within(Effect.all([add(8), go, add(9)])))
      // As of every commit that fails, in `@effect/sql`.
      const defect = Exit.isFailure(first) ? Cause.squash(first.cause) : undefined
      expect(defect).toBeInstanceOf(SqlError.SqlError)
      expect(defect).toHaveProperty("message", expect.stringContaining("has not ended"))
      refused(exit)
      expect(yield* all).toEqual([2])
    }).pipe(Effect.provide(own))
  )
  it.effect("a connection that was kept is refused when its scope has ended, also in a transaction", () =>
    Effect.gen(function* () {
      const connection = yield* Effect.scoped(Effect.flatMap(client, (sql) => sql.reserve))
      const insert = Effect.exit(connection.execute("INSERT INTO t VALUES (9)", [], undefined))
      refused(yield* insert)
      const [, exit] = yield* within(Effect.all([add(1), insert]))
      refused(exit)
      expect(yield* all).toEqual([1])
    }).pipe(Effect.provide(own))
  )
  it.scoped("a transaction of one client within that of another is refused, also while the first has one open", () =>
    Effect.gen(function* () {
      const [a, b] = yield* Effect.replicateEffect(Effect.map(Layer.build(own), Context.get(client)), 2)
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const open = b!.withTransaction(Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go)))
      const fiber = yield* Effect.fork(open)
      yield* Deferred.await(begun)
      const error = yield* Effect.flip(a!.withTransaction(b!.withTransaction(Effect.void)))
      expect(error.message).toContain("another database")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(fiber)
    })
  )
  it.scoped("a statement of one client in a transaction of another is one of its own", () =>
    Effect.gen(function* () {
      const [a, b] = yield* Effect.replicateEffect(Effect.map(Layer.build(own), Context.get(client)), 2)
      yield* b!`INSERT INTO t VALUES (2)`
      const undone = Effect.gen(function* () {
        yield* a!`INSERT INTO t VALUES (1)`
        expect(yield* a!`SELECT a FROM t`).toEqual([{ a: 1 }])
        for (const sql of [a!, a!.safe, a!.withoutTransforms()]) {
          expect(yield* sql.unsafe("SELECT a FROM t").values).toEqual([[1]])
        }
        expect(yield* Stream.runCollect(a!`SELECT a FROM t`.stream).pipe(Effect.map(Array.from))).toEqual([{ a: 1 }])
        yield* b!`INSERT INTO t VALUES (3)`
        return yield* Effect.fail("undone")
      })
      expect(yield* Effect.flip(b!.withTransaction(undone))).toBe("undone")
      expect(yield* a!`SELECT a FROM t`).toEqual([{ a: 1 }])
      expect(yield* b!`SELECT a FROM t`).toEqual([{ a: 2 }])
    })
  )
  it.scoped("a connection that is kept is used for the statements of who says that it is a transaction's", () =>
    Effect.gen(function* () {
      const sql = yield* client
      const kept = yield* sql.reserve
      // With another, this would wait for its own turn.
      yield* Effect.provideService(sql`INSERT INTO t VALUES (1)`, SqlClient.TransactionConnection, [kept, 0])
    }).pipe(
      Effect.scoped,
      Effect.zipRight(all),
      Effect.tap((found) => Effect.sync(() => expect(found).toEqual([1]))),
      Effect.provide(own)
    )
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
