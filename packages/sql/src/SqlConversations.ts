/**
 * Conversations of `@heddle/memory` in a SQL database: SQLite as `@heddle/sql/libsql`
 * opens it, or Postgres.
 *
 * Appending costs the same in a long conversation as in a short one. Programs on
 * several machines can use one Postgres, and several programs on one machine one
 * file. The tables (`heddle_*`) are made when the layer is built. In a transaction of
 * another client, a store reads its own database as if none was open, and does not write.
 *
 * On Postgres, `PgClient.layer({ url })` of `@effect/sql-pg` stands where
 * `libsql.layer` stands here.
 *
 * @example
 * ```ts no-run
 * import { SqlConversations } from "@heddle/sql"
 * import * as libsql from "@heddle/sql/libsql"
 * import { Layer } from "effect"
 *
 * const layer = Layer.provide(SqlConversations.layer, libsql.layer({ filename: "data/heddle.db" }))
 * ```
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { Conversations, MemoryErrors } from "@heddle/memory"
import {
  accessed,
  begun,
  checked,
  checkThrough,
  isRevision,
  isSummarized,
  replaced,
  summarized
} from "@heddle/memory/store"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type DatabaseError, fromCause } from "./DatabaseError.ts"
import { conversationTable, textOfExchange } from "./internal/conversationTable.ts"
import { type Database, database } from "./internal/database.ts"
import { rescued } from "./internal/rescued.ts"
import { upToDate } from "./internal/tables.ts"

/** Fails with the reason `Newer` if a newer version of this package has written to the database. */
export const layer: Layer.Layer<Conversations.Conversations, DatabaseError, SqlClient> = Layer.effect(
  Conversations.Conversations,
  Effect.map(Effect.flatMap(database, upToDate), (database) => checked(make(database)))
)

const { ConversationChanged, ConversationsUnavailable } = MemoryErrors

const make = ({ reading, sql, writing }: Database): Conversations.Service => {
  const table = conversationTable(sql)
  return {
    read: (key, range) =>
      timed((now) =>
        Effect.gen(function* () {
          const found = yield* table.read(key, range)
          if (found === undefined) return { exchanges: [] }
          const { exchanges, id, summary } = found
          const info = accessed(found.info, now)
          // A note that cannot be taken is no reason to withhold what was read.
          if (info !== found.info) yield* Effect.ignore(table.note(id, now))
          return { info, exchanges, ...(summary !== undefined && { summary }) }
        }).pipe(reading, unavailable("read", key))
      ),
    append: (key, exchange) =>
      timed((now) =>
        Effect.flatMap(textOfExchange(exchange, now), (content) =>
          table.append(begun(key, now), exchange.messages.length, content)
        ).pipe(writing, unavailable("append", key))
      ),
    replace: (key, exchanges, expected) =>
      timed((now) =>
        Effect.gen(function* () {
          const contents = yield* Effect.forEach(exchanges, (exchange) => textOfExchange(exchange, now))
          const messages = exchanges.reduce((sum, { messages }) => sum + messages.length, 0)
          const size = { exchanges: exchanges.length, messages }
          const known = yield* table.lock(key)
          if (!isRevision(known?.info, expected)) return yield* new ConversationChanged({ key })
          const info = replaced(known?.info ?? begun(key, now), size, now)
          const id = known === undefined ? yield* table.insert(info) : known.id
          // Somebody else began it at the same time.
          if (id === undefined) return yield* new ConversationChanged({ key })
          if (known !== undefined) yield* table.empty(id, info)
          yield* table.fill(id, contents)
          return info
        }).pipe(sql.withTransaction, writing, unavailable("replace", key))
      ),
    summarize: (key, { text, through }, expected) =>
      timed((now) =>
        Effect.gen(function* () {
          const known = yield* table.lock(key)
          if (known === undefined || !isSummarized(known.info, expected)) return yield* new ConversationChanged({ key })
          checkThrough(through, known.info.exchanges)
          const info = summarized(known.info, through, now)
          yield* table.summarize(known.id, info, { text, through, at: now })
          return info
        }).pipe(sql.withTransaction, writing, unavailable("summarize", key))
      ),
    clear: (key) =>
      timed((now) =>
        Effect.gen(function* () {
          const known = yield* table.lock(key)
          if (known === undefined) return false
          yield* table.empty(known.id, replaced(known.info, { exchanges: 0, messages: 0 }, now))
          return true
        }).pipe(sql.withTransaction, writing, unavailable("clear", key))
      ),
    remove: (key) => table.remove(key).pipe(sql.withTransaction, writing, unavailable("remove", key)),
    list: (options) => table.list(options).pipe(reading, unavailable("list"))
  }
}

/** Does something at the time that it is. */
const timed = <A, E>(f: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.clockWith((clock) => f(clock.unsafeCurrentTimeMillis()))

/** With the errors of a store. */
const unavailable =
  (operation: MemoryErrors.ConversationsUnavailable["operation"], key?: Conversations.ConversationKey) =>
  <A, E extends SqlError | DatabaseError | MemoryErrors.ConversationChanged>(effect: Effect.Effect<A, E>) =>
    Effect.mapError(rescued(effect), (error) => {
      type Changed = Extract<E, MemoryErrors.ConversationChanged>
      // The compiler does not narrow a type that is a parameter.
      if (error._tag === "ConversationChanged") return error as Changed
      const cause = fromCause("The database", error)
      return new ConversationsUnavailable({ operation, cause, ...(key !== undefined && { key }) })
    })
