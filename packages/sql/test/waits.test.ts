import { describe, expect, it } from "@effect/vitest"
import { SqlClient, type SqlError } from "@effect/sql"
import { Message } from "@heddle/core"
import { Conversations } from "@heddle/memory"
import { DatabaseError, SqlConversations } from "@heddle/sql"
import { layer, type Options } from "@heddle/sql/libsql"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scheduler, type Scope } from "effect"
import { file } from "./support/files.ts"

const key = Conversations.main("ada")
const exchange = { agent: "helper", messages: [Message.user("Hi"), Message.assistant("Hello!")] }

/** A client of a file, and conversations on it. */
const open = (options: Options) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.provideMerge(SqlConversations.layer, layer(options)))
    const sql = Context.get(context, SqlClient.SqlClient)
    const store = Context.get(context, Conversations.Conversations)
    const exchanges = Effect.map(store.read(key), ({ exchanges }) => exchanges.length)
    return { sql, append: store.append(key, exchange), exchanges }
  })

/** A transaction that is open until it is told to end, or the scope ends. */
const transaction = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const end = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkScoped(
      sql.withTransaction(Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(end)))
    )
    yield* Deferred.await(begun)
    return Effect.zipRight(Deferred.succeed(end, undefined), Fiber.join(fiber))
  })

/** Begins an effect, which is then waiting for what it has to wait for. */
const begin = <A, E>(effect: Effect.Effect<A, E>) => Effect.tap(Effect.fork(effect), Effect.yieldNow())

const isWaiting = <A, E>(fiber: Fiber.RuntimeFiber<A, E>) => Effect.map(fiber.poll, ({ _tag }) => _tag === "None")

const locked = { _tag: "ConversationsUnavailable", cause: { _tag: "DatabaseError", reason: "Locked" } }

describe("while another program writes", () => {
  const opened = (busyTimeout?: Options["busyTimeout"]) =>
    Effect.gen(function* () {
      const filename = yield* file
      const mine = yield* open({ filename, ...(busyTimeout !== undefined && { busyTimeout }) })
      const theirs = yield* open({ filename, busyTimeout: "100 millis" })
      return { mine, theirs, end: yield* transaction(theirs.sql) }
    })

  it.scoped("a transaction that cannot begin in time fails, and the next one runs", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened("20 millis")
      expect(yield* Effect.flip(mine.append)).toMatchObject(locked)
      yield* end
      expect((yield* mine.append).exchanges).toBe(1)
    })
  )
  it.scoped("statements and transactions that wait let reads through, and run when it is done", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened("60 seconds")
      const insert = mine.sql`INSERT INTO heddle_layouts (layout) VALUES (0)`
      const appends = yield* Effect.forEach(Effect.replicate(mine.append, 50), begin)
      const statement = yield* begin(insert)
      expect(yield* mine.exchanges).toBe(0)
      expect(yield* Effect.forEach(appends, isWaiting)).not.toContain(false)
      expect(yield* isWaiting(statement)).toBe(true)
      yield* end
      yield* Fiber.joinAll(appends)
      yield* Fiber.join(statement)
      expect(yield* mine.exchanges).toBe(50)
    })
  )
  it.scoped("a statement that gave up is no obstacle to what comes after it", () =>
    Effect.gen(function* () {
      const { end, mine, theirs } = yield* opened("20 millis")
      for (const returning of [mine.sql``, mine.sql`RETURNING layout`]) {
        const insert = mine.sql`INSERT INTO heddle_layouts (layout) VALUES (0) ${returning}`
        expect(DatabaseError.fromCause("", yield* Effect.flip(insert)).reason).toBe("Locked")
      }
      yield* end
      yield* mine.append
      expect((yield* theirs.append).exchanges).toBe(2)
    })
  )
  it.scoped("those that wait at the same time give up at the same time, not one after the other", () =>
    Effect.gen(function* () {
      const filename = yield* file
      const busyTimeout = "200 millis"
      const mine = yield* open({ filename, busyTimeout })
      const others = yield* open({ filename, busyTimeout })
      yield* Effect.flatMap(open({ filename }), ({ sql }) => transaction(sql))
      const ends: Array<string> = []
      const failing = (append: typeof mine.append, name: string) =>
        Effect.map(Effect.flip(append), (error) => {
          expect(error).toMatchObject(locked)
          ends.push(name)
        })
      const five = Effect.all(Effect.replicate(failing(mine.append, "at once"), 5), { concurrency: "unbounded" })
      const three = Effect.all(Effect.replicate(failing(others.append, "in turn"), 3))
      yield* Effect.all([three, five], { concurrency: "unbounded" })
      expect(ends.lastIndexOf("at once")).toBeLessThan(ends.lastIndexOf("in turn"))
    })
  )
  it.scoped("one that waits can be interrupted, and the next one runs", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened("60 seconds")
      const waits = yield* Effect.forEach(Effect.replicate(mine.append, 3), begin)
      yield* Fiber.interrupt(waits[0]!)
      expect(yield* Effect.forEach(waits, isWaiting)).toEqual([false, true, true])
      yield* end
      yield* Fiber.joinAll(waits.slice(1))
      expect((yield* mine.append).exchanges).toBe(3)
    })
  )
  it.scoped("one on a kept connection is not run when the scope of that has ended meanwhile", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened("60 seconds")
      const insert = "INSERT INTO heddle_layouts (layout) VALUES (0)"
      const waits = yield* Effect.scoped(
        Effect.flatMap(mine.sql.reserve, ({ execute }) => begin(execute(insert, [], undefined)))
      )
      expect(yield* isWaiting(waits)).toBe(true)
      yield* end
      expect((yield* Effect.flip(Fiber.join(waits))).message).toContain("has ended")
    })
  )
  it.scoped("one that waits where nothing can be interrupted goes on waiting, and is kept", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened("60 seconds")
      const waits = yield* begin(Effect.uninterruptible(mine.append))
      yield* Fiber.interruptFork(waits)
      yield* Effect.yieldNow()
      expect(yield* isWaiting(waits)).toBe(true)
      yield* end
      yield* Fiber.await(waits)
      expect(yield* mine.exchanges).toBe(1)
    })
  )
})

describe("while a transaction of the same program is open", () => {
  const opened = Effect.gen(function* () {
    const mine = yield* open({ filename: yield* file })
    yield* mine.sql`CREATE TABLE t (n INTEGER)`
    return { mine, end: yield* transaction(mine.sql) }
  })

  it.scoped("others wait for their turn, and have it in the order in which they came", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened
      const inserts = yield* Effect.forEach([3, 1, 2, 5, 4], (n) => {
        const insert = mine.sql`INSERT INTO t VALUES (${n})`
        return begin(n % 2 === 0 ? mine.sql.withTransaction(insert) : insert)
      })
      expect(yield* Effect.forEach(inserts, isWaiting)).not.toContain(false)
      yield* end
      yield* Fiber.joinAll(inserts)
      expect(yield* mine.sql`SELECT n FROM t ORDER BY rowid`.values).toEqual([[3], [1], [2], [5], [4]])
    })
  )
  it.scoped("one that waits can be interrupted, and the next ones run", () =>
    Effect.gen(function* () {
      const { end, mine } = yield* opened
      const waits = yield* Effect.forEach(
        [mine.append, Effect.zipRight(mine.exchanges, mine.append), mine.append, mine.append],
        begin
      )
      yield* Effect.forEach(waits.slice(0, 3), Fiber.interrupt)
      yield* end
      yield* Fiber.join(waits[3]!)
      expect((yield* mine.append).exchanges).toBe(2)
    })
  )
})

describe("an interruption at any moment leaves neither a transaction open nor others waiting", () => {
  /** Lets others run once, after so many steps of who runs on it. */
  class Pausing implements Scheduler.Scheduler {
    private left: number
    constructor(steps: number) {
      this.left = steps
    }
    shouldYield = () => (this.left-- === 0 ? 0 : false)
    scheduleTask = Scheduler.defaultScheduler.scheduleTask.bind(Scheduler.defaultScheduler)
    get reached() {
      return this.left < 0
    }
  }

  /** Interrupts an append after every number of steps, until it has no more. `before` gives what is done when it has begun. */
  const interrupted = (
    before: (sql: SqlClient.SqlClient) => Effect.Effect<Effect.Effect<void, SqlError.SqlError>, never, Scope.Scope>
  ) =>
    Effect.gen(function* () {
      const filename = yield* file
      const mine = yield* open({ filename })
      const theirs = yield* open({ filename, busyTimeout: 0 })
      let kept = 0
      for (let steps = 0; ; steps++) {
        const pausing = new Pausing(steps)
        const after = yield* before(mine.sql)
        const fiber = yield* begin(Effect.withScheduler(mine.append, pausing))
        yield* after
        const exit = yield* Fiber.interrupt(fiber)
        // If it is there, nobody has a transaction open, and everybody has a turn.
        yield* theirs.append
        const { exchanges } = yield* mine.append
        // One that was interrupted when it was committed is there.
        if (Exit.isSuccess(exit)) expect(exchanges).toBe(kept + 3)
        else expect([kept + 2, kept + 3]).toContain(exchanges)
        kept = exchanges
        if (!pausing.reached) break
      }
      expect(yield* mine.exchanges).toBe(kept)
    })

  it.scoped("of one that has its turn at once", () => interrupted(() => Effect.succeed(Effect.void)))
  it.scoped("of one that has to wait for it", () => interrupted(transaction))
})
