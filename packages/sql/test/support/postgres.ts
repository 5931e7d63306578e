/**
 * The Postgres server that tests use: the one that `HEDDLE_TEST_POSTGRES_URL` names,
 * or one that answers on this machine. Without one its tests are skipped, unless the
 * variable names one or `HEDDLE_REQUIRE_POSTGRES` is 1: then they fail.
 */
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"

const named = process.env["HEDDLE_TEST_POSTGRES_URL"] || undefined
const required = named !== undefined || process.env["HEDDLE_REQUIRE_POSTGRES"] === "1"

export const url = named ?? "postgres://postgres@127.0.0.1:5432/test"

const connect = (address: string, maxConnections: number) =>
  PgClient.layer({ url: Redacted.make(address), maxConnections, connectTimeout: "5 seconds" })

/** Whether there is a server. Asks each time, and throws if there must be one. */
export const hasServer = (): Promise<boolean> =>
  Effect.runPromise(
    SqlClient.SqlClient.pipe(
      Effect.flatMap((sql) => sql`SELECT 1`),
      Effect.provide(connect(url, 1)),
      Effect.as(true),
      Effect.catchAll((error) => (required ? Effect.die(error) : Effect.succeed(false)))
    )
  )

/** The address of a schema that is there until the scope ends, at the server or at what stands for it. */
export const ownSchema = Effect.gen(function* () {
  const schema = `heddle_test_${globalThis.crypto.randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(once(`CREATE SCHEMA ${schema}`), () =>
    Effect.orDie(once(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
  )
  const address = new URL(url)
  address.searchParams.set("options", `-csearch_path=${schema}`)
  return address
})

const once = (statement: string) =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap((sql) => sql.unsafe(statement)),
    Effect.provide(connect(url, 1))
  )

export const client = (address: URL, maxConnections = 5) => connect(String(address), maxConnections)

/** A client with a pool, in a schema of its own. */
export const ownClient = Layer.unwrapScoped(Effect.map(ownSchema, (address) => client(address)))
