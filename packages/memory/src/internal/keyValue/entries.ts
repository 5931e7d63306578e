/**
 * The exchanges of a conversation, each a value of its own: by the conversation's
 * id, the number of the generation, and the position. Only those that the head of
 * the conversation counts are there for readers, so they are written before it, and
 * deleted after it.
 */
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Exchange } from "../../Conversations.ts"
import { decodeExchange, encodeExchange } from "../store/text.ts"
import type { Problem } from "./registers.ts"

export interface Entries {
  /** Those at the positions greater than `after`, up to `through`. */
  readonly read: (
    id: string,
    generation: number,
    places: { readonly after: number; readonly through: number }
  ) => Effect.Effect<ReadonlyArray<Exchange>, Problem>
  readonly write: (id: string, generation: number, exchange: Exchange) => Effect.Effect<void, Problem>
  /** Deletes those of some generations, the last first, so that what is left has no gaps if it is stopped. */
  readonly sweep: (id: string, from: number, through: number) => Effect.Effect<void, Problem>
}

export const makeEntries = (store: KeyValueStore): Entries => {
  const place = (id: string, generation: number, position: number) => `exchange.${id}.${generation}.${position}`

  const readOne = (key: string, position: number) =>
    Effect.flatMap(store.get(key), (found) =>
      Effect.try({
        try: () => {
          if (Option.isNone(found)) throw new Error("It is missing.")
          const exchange = decodeExchange(found.value)
          if (exchange.position === position) return exchange
          throw new Error(`It is the one at position ${exchange.position}.`)
        },
        catch: (cause) => new Error(`The value of "${key}" is damaged: ${(cause as Error).message}`, { cause })
      })
    )

  return {
    read: (id, generation, { after, through }) =>
      Effect.forEach(
        Array.from({ length: through - after }, (_, n) => after + n + 1),
        (position) => readOne(place(id, generation, position), position),
        { concurrency: 16 }
      ),
    write: (id, generation, exchange) =>
      Effect.flatMap(
        Effect.try({
          try: () => encodeExchange(exchange),
          catch: (cause) => new Error(`The exchange is not JSON: ${String(cause)}`, { cause })
        }),
        (text) => store.set(place(id, generation, exchange.position), text)
      ),
    sweep: (id, from, through) =>
      Effect.gen(function* () {
        for (let generation = from; generation <= through; generation++) {
          let count = 0
          while (yield* store.has(place(id, generation, count + 1))) count++
          for (; count > 0; count--) yield* store.remove(place(id, generation, count))
        }
      })
  }
}
