/**
 * What stores that keep plain data in memory are made of: copies that nobody can
 * change, a map that knows what was used the longest time ago, and bounds.
 *
 * @example
 * ```ts
 * import { frozen, RecencyMap, whole } from "@heddle/core/store"
 *
 * const most = whole("most", 2, 1)
 * const notes = new RecencyMap<unknown>()
 * for (const name of ["a", "b", "c"]) {
 *   notes.set(name, frozen({ name }))
 *   if (notes.size > most) notes.delete(notes.oldest!)
 * }
 * console.log([...notes.keys()]) // [ 'b', 'c' ]
 * ```
 */
import { DefinitionError } from "./Errors.ts"

/** A whole number from `least` up, or `Infinity`. Throws a `DefinitionError` that has the name for others. */
export const whole = (name: string, value: number, least: number): number => {
  if (value === Infinity || (Number.isInteger(value) && value >= least)) return value
  throw new DefinitionError(`${name} is a whole number from ${least} up, or Infinity, but is ${value}.`)
}

/** A copy of plain data that cannot be changed, so that all readers can have the same one. */
export const frozen: <A>(plain: A) => A = (plain) => {
  if (typeof plain !== "object" || plain === null) return plain
  // A copy of plain data has the type of what it is a copy of.
  if (Array.isArray(plain)) return Object.freeze(plain.map(frozen)) as typeof plain
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(plain)) {
    const value: unknown = frozen(Reflect.get(plain, key))
    // An assignment would take this one for the prototype.
    if (key === "__proto__") Object.defineProperty(copy, key, { value, enumerable: true })
    else copy[key] = value
  }
  return Object.freeze(copy) as typeof plain
}

/** How many of the items, which are in order, come before the first of which `from` holds. */
export const countBefore = <A>(items: ReadonlyArray<A>, from: (item: A) => boolean): number => {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (from(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

interface Place<A> {
  readonly key: string
  readonly value: A
  older: Place<A> | undefined
  newer: Place<A> | undefined
}

/**
 * A map that knows which of its entries was written or used the longest time ago,
 * in a time that does not depend on how many there are. (A `Map` that is written
 * anew keeps the order as well, but its first entry is found behind all that were
 * deleted.)
 */
export class RecencyMap<A> {
  readonly #places = new Map<string, Place<A>>()
  #oldest: Place<A> | undefined
  #newest: Place<A> | undefined

  get size(): number {
    return this.#places.size
  }

  /** The key of the oldest entry. */
  get oldest(): string | undefined {
    return this.#oldest?.key
  }

  /** Leaves the entry where it is. */
  get(key: string): A | undefined {
    return this.#places.get(key)?.value
  }

  /** Makes the entry the newest, if there is one. */
  use(key: string): A | undefined {
    const place = this.#places.get(key)
    if (place !== undefined && place !== this.#newest) {
      this.#leave(place)
      this.#join(place)
    }
    return place?.value
  }

  /** In the order in which they were written. */
  keys(): Iterable<string> {
    return this.#places.keys()
  }

  /** Makes the entry the newest. */
  set(key: string, value: A): void {
    this.delete(key)
    const place: Place<A> = { key, value, older: undefined, newer: undefined }
    this.#join(place)
    this.#places.set(key, place)
  }

  /** Says whether there was one. */
  delete(key: string): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#leave(place)
    return this.#places.delete(key)
  }

  #join(place: Place<A>): void {
    place.older = this.#newest
    place.newer = undefined
    if (this.#newest === undefined) this.#oldest = place
    else this.#newest.newer = place
    this.#newest = place
  }

  #leave(place: Place<A>): void {
    if (place.older === undefined) this.#oldest = place.newer
    else place.older.newer = place.newer
    if (place.newer === undefined) this.#newest = place.older
    else place.newer.older = place.older
  }
}
