/**
 * Keeps what was found for as long as it is good for.
 */
import { Errors, Tenant } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import type { RetrievalError } from "../RagErrors.ts"
import type { CacheOptions, Passage, Query, Service } from "../Retriever.ts"
import { checked } from "./query.ts"

type Found = ReadonlyArray<Passage>

/** A search that goes on, or what it has found. */
interface Entry {
  readonly found: Deferred.Deferred<Found, RetrievalError>
  /** How many wait for it. */
  waiting: number
  /** Interrupts the search, and is not there any more when that has ended. */
  stop: Effect.Effect<void> | undefined
  /** When it is too old, in milliseconds. */
  until: number
}

/** The open transaction of `@effect/sql`, which need not be installed. What is found in one may be undone. */
class Transaction extends Context.Tag("@effect/sql/SqlClient/TransactionConnection")<Transaction, unknown>() {}

/** Throws a `DefinitionError` for a capacity or a time that is none. */
export const makeCached = (self: Service, { capacity, timeToLive }: CacheOptions): Effect.Effect<Service> => {
  whole("capacity", capacity, 1)
  const age = Duration.toMillis(timeToLive)
  if (age <= 0) throw new Errors.DefinitionError("timeToLive is more than 0, but is not.")
  return Effect.map(Effect.context<never>(), (context) => {
    const entries = new Map<string, Entry>()

    const forget = (key: string, entry: Entry) => {
      if (entries.get(key) === entry) entries.delete(key)
    }

    /** The entry of a key, as the last of those used; a new one if there is none, or one too old. */
    const use = (key: string, now: number, found: Entry["found"]): Entry => {
      const known = entries.get(key)
      const entry =
        known !== undefined && now < known.until ? known : { found, waiting: 0, stop: Effect.void, until: Infinity }
      entry.waiting++
      entries.delete(key)
      entries.set(key, entry)
      for (const oldest of entries.keys()) {
        if (entries.size <= capacity) break
        entries.delete(oldest)
      }
      return entry
    }

    /** Searches in a fiber of its own, as who asks first may leave before the others, and not as that one. */
    const begin = (key: string, entry: Entry, query: Query) =>
      Effect.exit(Effect.interruptible(self.search(query))).pipe(
        Effect.locally(FiberRef.currentContext, Context.add(context, Tenant.Tenant, query.tenant)),
        Effect.zip(Clock.currentTimeMillis),
        Effect.flatMap(([exit, now]) => {
          entry.stop = undefined
          entry.until = now + age
          if (Exit.isFailure(exit)) forget(key, entry)
          return Deferred.done(entry.found, Exit.map(exit, frozen))
        }),
        Effect.forkDaemon,
        Effect.map((fiber) => {
          if (entry.stop !== undefined) entry.stop = Fiber.interrupt(fiber)
        })
      )

    const leave = (key: string, entry: Entry) =>
      Effect.suspend(() => {
        entry.waiting--
        if (entry.waiting > 0 || entry.stop === undefined) return Effect.void
        forget(key, entry)
        return entry.stop
      })

    const shared = (query: Query) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const key = keyOf(query)
          const mine = yield* Deferred.make<Found, RetrievalError>()
          const entry = use(key, yield* Clock.currentTimeMillis, mine)
          if (entry.found === mine) yield* begin(key, entry, query)
          return yield* Effect.ensuring(restore(Deferred.await(entry.found)), leave(key, entry))
        })
      )

    return checked((query) =>
      Effect.flatMap(Effect.serviceOption(Transaction), (open) =>
        // The others' search could wait for the transaction to end, which waits for it.
        Option.isSome(open) ? Effect.map(self.search(query), frozen) : shared(query)
      )
    )
  })
}

const keyOf = ({ filter = {}, minScore, query, tenant, topK }: Query): string => {
  const metadata = Object.entries(filter.metadata ?? {})
    // As text, for JSON has one word for all numbers that it has none for.
    .map(([key, value]) => [key, typeof value, String(value)])
    .toSorted(([a], [b]) => (a! < b! ? -1 : 1))
  // A part of a query that is forgotten here does not compile.
  const parts: Record<Exclude<keyof Query, "filter"> | keyof Required<Query>["filter"], unknown> = {
    tenant,
    query,
    topK: String(topK),
    minScore,
    collection: filter.collection,
    sources: filter.sources,
    metadata
  }
  return JSON.stringify(parts)
}

/** Copies that nobody can change: whoever asks gets the same ones. */
const frozen = (passages: Found): Found =>
  Object.freeze(
    passages.map((passage) => Object.freeze({ ...passage, metadata: Object.freeze({ ...passage.metadata }) }))
  )
