import { describe, expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { conversations, conversationsAgree } from "@heddle/memory/testing"
import { DocumentIndex, Retriever } from "@heddle/rag"
import { DatabaseError, SqlConversations, SqlHistoryStore, SqlRetriever } from "@heddle/sql"
import { historyStore } from "@heddle/workflow/testing"
import { Context, Effect, Either, Layer, Redacted } from "effect"
import { behave, happenings, runs } from "../../memory/test/calls.ts"
import { ownFile } from "./support/files.ts"
import { client, hasServer, ownClient, ownSchema, url } from "./support/postgres.ts"
import { proxy } from "./support/proxy.ts"
import { append, apart, onEveryDatabase, read } from "./support/stores.ts"

const there = await hasServer()
if (!there) console.warn(`Not tested: Postgres, since no server answers at ${new URL(url).host}.`)

describe.skipIf(!there)("on Postgres", () => {
  conversations("conversations keep the rules", Layer.provide(SqlConversations.layer, ownClient))
  conversationsAgree(
    "conversations are like those in memory, whatever is done",
    Layer.provide(SqlConversations.layer, ownClient)
  )
  historyStore("the history keeps the rules", Layer.provide(SqlHistoryStore.layer, ownClient))

  onEveryDatabase(ownClient)

  apart("a transaction of a file is none of stores in Postgres", ownClient, ownFile())
  apart("a transaction of Postgres is none of stores in a file", ownFile(), ownClient)

  it.scoped("a transaction goes on in which a file was searched", () =>
    Effect.gen(function* () {
      const sql = yield* Effect.map(Layer.build(ownClient), Context.get(SqlClient.SqlClient))
      const notes = DocumentIndex.collection("notes")
      const found = sql.withTransaction(
        Effect.gen(function* () {
          const retriever = yield* Retriever.Retriever
          const index = yield* DocumentIndex.DocumentIndex
          const found = yield* retriever.search(Retriever.query("zebra"))
          expect(yield* index.documents(notes)).toHaveLength(1)
          yield* sql`CREATE TABLE kept (a INTEGER)`
          return found.map(({ text }) => text)
        })
      )
      const chunks = [{ id: "a#0", text: "a zebra", context: "", metadata: {} }]
      yield* Effect.gen(function* () {
        yield* (yield* DocumentIndex.DocumentIndex).put(notes, [{ source: "a", hash: "a", chunks }])
        expect(yield* found).toEqual(["a zebra"])
      }).pipe(Effect.provide(Layer.provide(SqlRetriever.layerLexical, ownFile())))
      expect(yield* sql`SELECT a FROM kept`).toEqual([])
    })
  )

  it.effect.prop(
    "calls one after the other, at once and inside of each other behave as the reference of the memory says",
    [happenings],
    ([happenings]) =>
      Effect.gen(function* () {
        const open = Layer.provide(SqlConversations.layer, client(yield* ownSchema))
        yield* behave(happenings, open, (found, wanted) => expect(found).toEqual(wanted))
      }).pipe(Effect.scoped),
    runs(15)
  )

  it.scoped("many programs that begin on one new database at once make the tables once", () =>
    Effect.gen(function* () {
      const address = yield* ownSchema
      const store = Layer.build(Layer.provide(SqlConversations.layer, client(address, 1)))
      const stores = yield* Effect.all(Effect.replicate(store, 8), { concurrency: "unbounded" })
      yield* Effect.forEach(stores, (store) => Effect.provide(append, store), { concurrency: "unbounded" })
      expect((yield* Effect.provide(read, stores[0]!)).exchanges).toHaveLength(8)
    })
  )

  it.scoped("when the server goes away, each append is either kept or failed, and says why", () =>
    Effect.gen(function* () {
      const address = yield* ownSchema
      const { address: detour, cut } = yield* proxy(address)
      const store = yield* Layer.build(Layer.provide(SqlConversations.layer, client(detour)))
      yield* Effect.provide(append, store)
      const many = Effect.forEach(
        Array.from({ length: 60 }, (_, n) => n),
        (n) =>
          Effect.either(n === 30 ? Effect.zipRight(cut, Effect.provide(append, store)) : Effect.provide(append, store)),
        { concurrency: 8 }
      )
      const results = yield* many
      const failures = results.flatMap((result) => (Either.isLeft(result) ? [result.left] : []))
      expect(failures.length).toBeGreaterThan(0)
      for (const error of failures) {
        expect(error).toMatchObject({
          _tag: "ConversationsUnavailable",
          operation: "append",
          cause: { reason: "Unavailable" }
        })
        expect(error.message).toContain("cannot be reached")
      }
      expect(yield* Effect.flip(Effect.provide(read, store))).toMatchObject({ cause: { reason: "Unavailable" } })
      const { exchanges } = yield* Effect.provide(read, Layer.provide(SqlConversations.layer, client(address)))
      expect(exchanges.map(({ position }) => position)).toEqual(exchanges.map((_, n) => n + 1))
      // What was under way when it went away may have been kept.
      const kept = 1 + results.length - failures.length
      expect(exchanges.length).toBeGreaterThanOrEqual(kept)
      expect(exchanges.length).toBeLessThanOrEqual(kept + 8)
    })
  )
})

it.scoped("a server that is not there is told of", () =>
  Effect.gen(function* () {
    const { address, cut } = yield* proxy(new URL("postgres://postgres@127.0.0.1:1/test"))
    yield* cut
    const connecting = Layer.build(PgClient.layer({ url: Redacted.make(String(address)) }))
    const error = DatabaseError.fromCause("The server", yield* Effect.flip(connecting))
    expect(error.reason).toBe("Unavailable")
    expect(error.message).toContain("cannot be reached")
  })
)
