/**
 * The statements on the tables of documents by which these are searched. Each sees one
 * moment.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { storedText } from "@heddle/memory/store"
import { queryTerms } from "@heddle/rag/store"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { DatabaseError } from "../../DatabaseError.ts"
import { hashOf } from "../names.ts"
import { decoded } from "../rows.ts"
import { decodeLoaded, type Loaded } from "./loaded.ts"
import { termsOf } from "./written.ts"

export type ChunkTable = ReturnType<typeof chunkTable>

export const chunkTable = (sql: SqlClient) => ({
  /**
   * The chunks of a tenant, `undefined` if there is no such tenant. What was loaded
   * before is not read again. Vectors are read only where they are asked for.
   */
  load: (
    tenant: string,
    before: Loaded | undefined,
    withVectors: boolean
  ): Effect.Effect<Loaded | undefined, SqlError | DatabaseError> => {
    const last = before?.entries.at(-1)?.id ?? 0
    // Those that are there come as one text: a row for each would take forty times as long.
    const rows =
      sql`SELECT revision AS id, (SELECT json_group_array(id) FROM heddle_chunks WHERE tenant = t.id) AS chunk,
        NULL AS metadata, id AS words, NULL AS vector, NULL AS source, NULL AS collection, NULL AS name,
        NULL AS model, NULL AS size
      FROM heddle_index_tenants t WHERE hash = ${hashOf(tenant)}
      UNION ALL
      SELECT c.id, c.chunk, c.metadata, c.words, CASE WHEN ${withVectors} THEN c.vector END,
        d.source, k.id, k.name, k.model, k.size
      FROM heddle_index_tenants t
      JOIN heddle_chunks c ON c.tenant = t.id AND c.id > ${last}
      JOIN heddle_documents d ON d.id = c.document
      JOIN heddle_collections k ON k.id = c.collection
      WHERE t.hash = ${hashOf(tenant)}`.values
    return Effect.flatMap(rows, ([first, ...fresh]) =>
      first === undefined ? Effect.succeed(undefined) : decodeLoaded({ first, fresh, before })
    )
  },

  /** How often each word is there, as far as it matters for which of them are looked for. */
  count: (
    tenant: number,
    words: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<number>, SqlError | DatabaseError> =>
    Effect.flatMap(
      sql`SELECT (SELECT count(*) FROM (SELECT 1 FROM heddle_word_places WHERE term = value LIMIT ${queryTerms.common}))
        FROM json_each(${JSON.stringify(termsOf(tenant, words))}) ORDER BY key`.values,
      decodeCounts
    ),

  /**
   * The revision of a tenant, and for each word the ids of chunks that have it, as
   * often as they have it.
   */
  find: (
    tenant: number,
    words: ReadonlyArray<string>
  ): Effect.Effect<
    { readonly revision: number; readonly found: ReadonlyMap<string, ReadonlyArray<number>> },
    SqlError | DatabaseError
  > =>
    // Numbers in one text take a tenth of the time that they take as rows.
    Effect.flatMap(
      sql`SELECT -1, revision FROM heddle_index_tenants WHERE id = ${tenant}
        UNION ALL
        SELECT key, (SELECT json_group_array(doc) FROM heddle_word_places WHERE term = value)
        FROM json_each(${JSON.stringify(termsOf(tenant, words))})`.values,
      decodeFound(words)
    ),

  /** The texts of chunks that are still there. */
  texts: (ids: ReadonlyArray<number>): Effect.Effect<ReadonlyMap<number, string>, SqlError | DatabaseError> =>
    Effect.flatMap(
      sql`SELECT id, text FROM heddle_chunks WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      decodeTexts
    )
})

// -----------------------------------------------------------------------------
// rows
// -----------------------------------------------------------------------------

const Found = Schema.Array(Schema.Tuple(Schema.Number, Schema.Union(Schema.Number, Schema.String)))

const decodeFound = (asked: ReadonlyArray<string>) =>
  decoded("The index of words", (rows) => {
    const [[, revision], ...words] = Schema.decodeUnknownSync(Found)(rows) as [
      [number, number],
      ...Array<[number, string]>
    ]
    // The database itself has made these texts.
    const found = new Map(words.map(([key, ids]) => [asked[key]!, JSON.parse(ids) as ReadonlyArray<number>]))
    return { revision, found }
  })

const Counts = Schema.Array(Schema.Tuple(Schema.Number))

const decodeCounts = decoded("The index of words", (rows) =>
  Schema.decodeUnknownSync(Counts)(rows).map(([count]) => count)
)

const Texts = Schema.Array(Schema.Struct({ id: Schema.Number, text: Schema.String }))

const decodeTexts = decoded(
  "The text of a chunk",
  (rows): ReadonlyMap<number, string> =>
    new Map(Schema.decodeUnknownSync(Texts)(rows).map(({ id, text }) => [id, storedText(text)]))
)
