/**
 * The statements on the tables of conversations.
 *
 * What changes a conversation locks its row first, so changes come one after the
 * other. What reads is one statement, so it sees one moment.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Conversations } from "@heddle/memory"
import { decodeExchange, encodeExchange, storableText, storedText } from "@heddle/memory/store"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { DatabaseError } from "../DatabaseError.ts"
import { hashOf, listed } from "./names.ts"
import { batches, clamped, decoded, encoded, most } from "./rows.ts"

type Info = Conversations.ConversationInfo
type Key = Conversations.ConversationKey

/** A conversation's row. */
export interface Known {
  /** What other tables know it by. Nothing is done with it but giving it back. */
  readonly id: unknown
  readonly info: Info
  readonly summary?: Conversations.Summary
}

/** The exchange as it is written down. Its position is known when it is written, and has a column of its own: here it is 0. */
export const textOfExchange = (
  { agent, messages }: Conversations.NewExchange,
  at: number
): Effect.Effect<string, DatabaseError> => encodedExchange({ agent, messages, at, position: 0 })

const encodedExchange = encoded("The exchange", encodeExchange)

const hashOfKey = ({ agent = "", session, tenant }: Key): string => hashOf(tenant, session, agent)

export const conversationTable = (sql: SqlClient) => {
  const pg = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const greatest = sql.literal(pg ? "GREATEST" : "MAX")
  const least = sql.literal(pg ? "LEAST" : "MIN")
  // SQLite's transaction has the lock of all rows.
  const forUpdate = sql.literal(pg ? "FOR UPDATE" : "")
  const infoColumns = sql.literal(
    "tenant, session, agent, generation, created_at, accessed_at, exchanges, messages, summarized"
  )

  const tenants = listed(sql, "tenant")
  const sessions = listed(sql, "session")

  const isKey = (key: Key) => sql`hash = ${hashOfKey(key)}`

  const newRow = ({ key, ...info }: Info) => sql`INSERT INTO heddle_conversations (hash, ${infoColumns})
    VALUES (${hashOfKey(key)}, ${storableText(key.tenant)}, ${storableText(key.session)},
      ${storableText(key.agent ?? "")}, ${info.generation}, ${info.createdAt}, ${info.lastAccessedAt},
      ${info.exchanges}, ${info.messages}, 0)`

  /** Counts an exchange more, in a conversation that may be new. The row stays locked until the transaction ends. */
  const counted = (fresh: Info, messages: number) => sql`${newRow({ ...fresh, exchanges: 1, messages })}
    ON CONFLICT (hash) DO UPDATE SET
      exchanges = heddle_conversations.exchanges + 1,
      messages = heddle_conversations.messages + excluded.messages,
      accessed_at = ${greatest}(heddle_conversations.accessed_at, excluded.accessed_at)
    RETURNING id, ${infoColumns}`

  const append = sql.onDialectOrElse({
    // One statement: one journey to the server, and no transaction that others wait for.
    pg:
      () => (fresh: Info, messages: number, content: string) => sql`WITH conversation AS (${counted(fresh, messages)}),
      exchange AS (
        INSERT INTO heddle_exchanges (conversation, position, content)
        SELECT id, exchanges, ${content} FROM conversation
      )
      SELECT * FROM conversation`,
    orElse: () => (fresh: Info, messages: number, content: string) =>
      sql.withTransaction(
        Effect.tap(
          counted(fresh, messages),
          ([row]) => sql`INSERT INTO heddle_exchanges (conversation, position, content)
            VALUES (${row?.["id"]}, ${row?.["exchanges"]}, ${content})`
        )
      )
  })

  return {
    /** Gives what is then known. */
    append: (fresh: Info, messages: number, content: string): Effect.Effect<Info, SqlError | DatabaseError> =>
      Effect.flatMap(append(fresh, messages, content), ([row]) => Effect.map(decodeRow(row), infoOf)),

    /** What is in a range of a conversation, if there is such a one. */
    read: (key: Key, range: Conversations.Range | undefined) => {
      const { after, count, through } = bounds(range)
      const rows = sql`SELECT id, ${infoColumns}, summary_text, summary_at, 0 AS position, NULL AS content
        FROM heddle_conversations WHERE ${isKey(key)}
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, e.position, e.content
        FROM heddle_conversations c JOIN heddle_exchanges e ON e.conversation = c.id
          AND e.position > ${greatest}(${after}, ${least}(c.exchanges, ${through}) - ${count})
          AND e.position <= ${through}
        WHERE ${isKey(key)}
        ORDER BY position`
      return Effect.flatMap(rows, ([row, ...exchanges]) =>
        row === undefined
          ? Effect.succeed(undefined)
          : Effect.all({
              known: Effect.map(decodeRow(row), knownOf),
              exchanges: Effect.forEach(exchanges, decodeContent)
            }).pipe(Effect.map(({ exchanges, known }) => ({ ...known, exchanges })))
      )
    },

    /** Notes that it was read. */
    note: (id: unknown, now: number) => sql`UPDATE heddle_conversations SET accessed_at = ${now} WHERE id = ${id}`,

    /** What is known of a conversation, which nobody else can change then until the transaction ends. */
    lock: (key: Key): Effect.Effect<Known | undefined, SqlError | DatabaseError> =>
      Effect.flatMap(
        sql`SELECT id, ${infoColumns}, summary_text, summary_at FROM heddle_conversations WHERE ${isKey(key)} ${forUpdate}`,
        ([row]) => (row === undefined ? Effect.succeed(undefined) : Effect.map(decodeRow(row), knownOf))
      ),

    /** Makes a conversation's row, and gives its id; `undefined` if there is one. */
    insert: (info: Info): Effect.Effect<unknown, SqlError> =>
      Effect.map(sql`${newRow(info)} ON CONFLICT (hash) DO NOTHING RETURNING id`, ([row]) => row?.["id"]),

    /** Drops what a conversation has, and writes what is then known of it. */
    empty: (id: unknown, info: Info): Effect.Effect<void, SqlError> =>
      Effect.zipRight(
        sql`UPDATE heddle_conversations SET generation = ${info.generation}, accessed_at = ${info.lastAccessedAt},
          exchanges = ${info.exchanges}, messages = ${info.messages},
          summarized = 0, summary_text = NULL, summary_at = NULL
          WHERE id = ${id}`,
        sql`DELETE FROM heddle_exchanges WHERE conversation = ${id}`
      ),

    /** Writes the exchanges of a conversation that has none. */
    fill: (id: unknown, contents: ReadonlyArray<string>): Effect.Effect<void, SqlError> =>
      Effect.forEach(
        batches(contents.map((content, n) => ({ conversation: id, position: n + 1, content }))),
        (rows) => sql`INSERT INTO heddle_exchanges ${sql.insert(rows)}`,
        { discard: true }
      ),

    summarize: (id: unknown, info: Info, { at, text, through }: Conversations.Summary) =>
      sql`UPDATE heddle_conversations SET accessed_at = ${info.lastAccessedAt},
        summarized = ${through}, summary_text = ${storableText(text)}, summary_at = ${at}
        WHERE id = ${id}`,

    /** Says whether there was one. */
    remove: (key: Key): Effect.Effect<boolean, SqlError> =>
      Effect.gen(function* () {
        const [row] = yield* sql`DELETE FROM heddle_conversations WHERE ${isKey(key)} RETURNING id`
        if (row === undefined) return false
        yield* sql`DELETE FROM heddle_exchanges WHERE conversation = ${row["id"]}`
        return true
      }),

    list: ({
      after,
      limit,
      session,
      tenant = ""
    }: Conversations.ListOptions): Effect.Effect<Conversations.ConversationPage, SqlError | DatabaseError> =>
      Effect.gen(function* () {
        const where = [
          tenants.is(storableText(tenant)),
          ...(session === undefined ? [] : [sessions.is(storableText(session))]),
          ...(after === undefined
            ? []
            : [
                sessions.from(storableText(after.session)),
                sql`(session, agent) > (${storableText(after.session)}, ${storableText(after.agent ?? "")})`
              ])
        ]
        // One more than the page has says whether there is another page.
        const rows = yield* sql`SELECT id, ${infoColumns} FROM heddle_conversations WHERE ${sql.and(where)}
          ORDER BY ${sessions.order}, agent LIMIT ${clamped(limit + 1)}`
        const infos = yield* Effect.forEach(rows, (row) => Effect.map(decodeRow(row), infoOf))
        if (infos.length <= limit) return { conversations: infos }
        const conversations = infos.slice(0, limit)
        const { tenant: _, ...next } = conversations.at(-1)!.key
        return { conversations, next }
      })
  }
}

// -----------------------------------------------------------------------------
// rows
// -----------------------------------------------------------------------------

const Row = Schema.Struct({
  id: Schema.Unknown,
  tenant: Schema.String,
  session: Schema.String,
  agent: Schema.String,
  generation: Schema.String,
  created_at: Schema.Number,
  accessed_at: Schema.Number,
  exchanges: Schema.Number,
  messages: Schema.Number,
  summarized: Schema.Number,
  summary_text: Schema.optional(Schema.NullOr(Schema.String)),
  summary_at: Schema.optional(Schema.NullOr(Schema.Number))
})

const decodeRow = decoded("The row of a conversation", Schema.decodeUnknownSync(Row))

const infoOf = (row: typeof Row.Type): Info => ({
  key: {
    tenant: storedText(row.tenant),
    session: storedText(row.session),
    ...(row.agent !== "" && { agent: storedText(row.agent) })
  },
  generation: row.generation,
  createdAt: row.created_at,
  lastAccessedAt: row.accessed_at,
  exchanges: row.exchanges,
  messages: row.messages,
  summarized: row.summarized
})

const knownOf = (row: typeof Row.Type): Known => {
  const { id, summarized: through, summary_at: at, summary_text: text } = row
  const info = infoOf(row)
  return typeof text === "string" && typeof at === "number"
    ? { id, info, summary: { text: storedText(text), through, at } }
    : { id, info }
}

const Content = Schema.Struct({ position: Schema.Number, content: Schema.String })

const decodeContent = decoded("An exchange", (row): Conversations.Exchange => {
  const { content, position } = Schema.decodeUnknownSync(Content)(row)
  return { ...decodeExchange(content), position }
})

/** The positions greater than `after`, up to `through`, and of them the last `count`. */
const bounds = (range: Conversations.Range | undefined) => {
  if (range === undefined) return { after: 0, through: most, count: most }
  if ("first" in range) {
    const after = range.after ?? 0
    return { after: clamped(after), through: clamped(after + range.first), count: most }
  }
  return { after: 0, through: clamped(Math.max(0, (range.before ?? Infinity) - 1)), count: clamped(range.last) }
}
