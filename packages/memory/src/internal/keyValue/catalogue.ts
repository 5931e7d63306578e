/**
 * Which conversations there are, for a store that cannot say what it has: their
 * keys, in chunks. A key is written down before its conversation begins, and struck
 * out after it has ended, so there may be keys without a conversation.
 */
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import type { ConversationKey } from "../../Conversations.ts"
import { keyText } from "../store/keys.ts"
import type { Exclusive } from "./locks.ts"
import { makeRegisters, type Problem } from "./registers.ts"

/** Keys in a chunk. A key is added by writing its chunk anew. */
const chunkSize = 64

export interface Catalogue {
  /** Adds a key, and gives the number of its chunk. */
  readonly add: (key: ConversationKey) => Effect.Effect<number, Problem>
  readonly remove: (key: ConversationKey, chunk: number) => Effect.Effect<void, Problem>
  /** All keys, each once, in no order. */
  readonly keys: Effect.Effect<ReadonlyArray<ConversationKey>, Problem>
}

/** The chunks that there are, as far as they were looked at. */
interface Chunks {
  count: number
  /** Those with room. */
  readonly open: Set<number>
}

export const makeCatalogue = (store: KeyValueStore, exclusive: Exclusive): Catalogue => {
  const registers = makeRegisters<ReadonlyArray<ConversationKey>>(store)
  const name = (chunk: number) => `chunk.${chunk}`
  const alone = exclusive("catalogue")
  let known: Chunks | undefined

  /** Reads all chunks once, when it is first needed where there is room. */
  const chunks = Effect.suspend(() =>
    known === undefined
      ? Effect.zipRight(
          all,
          Effect.sync(() => known!)
        )
      : Effect.succeed(known)
  )
  const all = Effect.gen(function* () {
    const found: Chunks = { count: 0, open: new Set() }
    const keys = new Map<string, ConversationKey>()
    for (;;) {
      const version = yield* registers.read(name(found.count))
      if (version === undefined) break
      if (version.value.length < chunkSize) found.open.add(found.count)
      for (const key of version.value) keys.set(keyText(key), key)
      found.count++
    }
    known = found
    return Array.from(keys.values())
  })

  const write = (chunk: number, change: (keys: ReadonlyArray<ConversationKey>) => ReadonlyArray<ConversationKey>) =>
    Effect.gen(function* () {
      const { count, open } = yield* chunks
      const before = yield* registers.read(name(chunk))
      const { value } = yield* registers.write(name(chunk), before, change(before?.value ?? []))
      known = { count: Math.max(count, chunk + 1), open }
      if (value.length < chunkSize) open.add(chunk)
      else open.delete(chunk)
    })
  const without = (keys: ReadonlyArray<ConversationKey>, key: ConversationKey) =>
    keys.filter((other) => keyText(other) !== keyText(key))

  return {
    add: (key) =>
      alone(
        Effect.gen(function* () {
          const { count, open } = yield* chunks
          const [chunk = count] = open
          yield* write(chunk, (keys) => [...without(keys, key), key])
          return chunk
        })
      ),
    remove: (key, chunk) => alone(write(chunk, (keys) => without(keys, key))),
    keys: alone(all)
  }
}
