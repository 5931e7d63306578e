/**
 * Values that outlive a writer who is killed while it writes: each has two slots,
 * which are written in turns. A slot that was left in the middle is known by its
 * checksum, and then the other one counts, which is the value before.
 */
import type { PlatformError } from "@effect/platform/Error"
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** What a store says that cannot be read or written, or an `Error` about a value that is damaged. */
export type Problem = PlatformError | Error

/** A value, and how many were written before it. */
export interface Version<A> {
  readonly number: number
  readonly value: A
}

/** Values of a kind, by name. */
export interface Registers<A> {
  /**
   * The value that was written last. None if there is no slot, or one that was left
   * in the middle: then the first value was never there as a whole. Fails if both are damaged.
   */
  readonly read: (name: string) => Effect.Effect<Version<A> | undefined, Problem>
  /** Writes a value after another one; after none, into both slots. */
  readonly write: (name: string, before: Version<unknown> | undefined, value: A) => Effect.Effect<Version<A>, Problem>
  /** Deletes a value. It may be the one before for a moment, if there are two. */
  readonly remove: (name: string, last: Version<unknown>) => Effect.Effect<void, Problem>
}

export const makeRegisters = <A>(store: KeyValueStore): Registers<A> => {
  const slot = (name: string, number: number) => `${name}.${number % 2 === 0 ? "a" : "b"}`

  const readSlot = (key: string): Effect.Effect<Version<A> | "none" | "damaged", PlatformError> =>
    Effect.flatMap(store.get(key), (found): Effect.Effect<Version<A> | "none" | "damaged"> =>
      Option.isNone(found) ? Effect.succeed("none") : unsealed(found.value)
    )
  const writeSlot = (name: string, version: Version<A>) =>
    Effect.flatMap(sealed(version), (text) => store.set(slot(name, version.number), text))

  return {
    read: (name) =>
      Effect.gen(function* () {
        const a = yield* readSlot(slot(name, 0))
        const b = yield* readSlot(slot(name, 1))
        if (typeof a === "object") return typeof b === "object" && b.number > a.number ? b : a
        if (typeof b === "object") return b
        if (a === "none" || b === "none") return undefined
        return yield* Effect.fail(new Error(`The values of "${slot(name, 0)}" and "${slot(name, 1)}" are damaged.`))
      }),
    write: (name, before, value) =>
      Effect.gen(function* () {
        // With a slot only, what was damaged later could not be told from what was never whole.
        if (before === undefined) yield* writeSlot(name, { number: 0, value })
        const version = { number: (before?.number ?? 0) + 1, value }
        yield* writeSlot(name, version)
        return version
      }),
    remove: (name, last) =>
      // The older one first: alone, it would count.
      Effect.forEach([last.number + 1, last.number], (number) => removeIfThere(store, slot(name, number)), {
        discard: true
      })
  }
}

/** Deletes a value that need not be there. Files that are not there cannot be deleted. */
const removeIfThere = (store: KeyValueStore, key: string): Effect.Effect<void, PlatformError> =>
  Effect.flatMap(store.has(key), (has) => (has ? store.remove(key) : Effect.void))

/** SHA-256, as 64 hexadecimal digits. */
export const hash = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")
  )

const sealed = (value: unknown): Effect.Effect<string> => {
  const json = JSON.stringify(value)
  return Effect.map(hash(json), (sum) => `${sum} ${json}`)
}

const unsealed = <A>(text: string): Effect.Effect<Version<A> | "damaged"> => {
  const json = text.slice(65)
  return Effect.map(hash(json), (sum) =>
    // What has its checksum was written by `sealed`.
    text.startsWith(`${sum} `) ? (JSON.parse(json) as Version<A>) : "damaged"
  )
}
