/**
 * A map that knows which of its entries was written the longest time ago, in a
 * time that does not depend on how many there are. (A `Map` that is written anew
 * keeps the order as well, but its first entry is found behind all that were
 * deleted.)
 */
interface Place<A> {
  readonly key: string
  readonly value: A
  older: Place<A> | undefined
  newer: Place<A> | undefined
}

export class RecencyMap<A> {
  readonly #places = new Map<string, Place<A>>()
  #oldest: Place<A> | undefined
  #newest: Place<A> | undefined

  get size(): number {
    return this.#places.size
  }

  get oldest(): string | undefined {
    return this.#oldest?.key
  }

  get(key: string): A | undefined {
    return this.#places.get(key)?.value
  }

  keys(): Iterable<string> {
    return this.#places.keys()
  }

  /** Makes the entry the newest. */
  set(key: string, value: A): void {
    this.delete(key)
    const place: Place<A> = { key, value, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = place
    else this.#newest.newer = place
    this.#newest = place
    this.#places.set(key, place)
  }

  /** Says whether there was one. */
  delete(key: string): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    if (place.older === undefined) this.#oldest = place.newer
    else place.older.newer = place.newer
    if (place.newer === undefined) this.#newest = place.older
    else place.newer.older = place.older
    return this.#places.delete(key)
  }
}
