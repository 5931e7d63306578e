/**
 * The chunks that are kept in memory, of the tenants that were asked last.
 */
import { TransactionConnection } from "@effect/sql/SqlClient"
import { RecencyMap } from "@heddle/core/store"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ChunkTable } from "./chunkTable.ts"
import type { Loaded } from "./loaded.ts"

/** Tenants whose chunks are kept in memory. */
const maxTenants = 32

export const inMemory = (table: ChunkTable, withVectors: boolean) => {
  const tenants = new RecencyMap<Loaded>()

  /** What is stored of a tenant, of which something older may be in memory. */
  const load = (tenant: string) =>
    Effect.flatMap(Effect.serviceOption(TransactionConnection), (transaction) =>
      Option.isSome(transaction)
        ? // What a transaction has written may be undone. So nobody else gets it, and it has nothing of others.
          table.load(tenant, undefined, withVectors)
        : Effect.tap(table.load(tenant, tenants.get(tenant), withVectors), (chunks) => {
            if (chunks === undefined) return
            tenants.set(tenant, chunks)
            if (tenants.size > maxTenants) tenants.delete(tenants.oldest!)
          })
    )

  /** What is in memory of a tenant, of which something newer may be stored; what is stored if nothing is. */
  const known = (tenant: string) =>
    Effect.flatMap(Effect.serviceOption(TransactionConnection), (transaction) => {
      const chunks = Option.isSome(transaction) ? undefined : tenants.use(tenant)
      return chunks === undefined ? load(tenant) : Effect.succeed(chunks)
    })

  return { load, known }
}
