/**
 * The entries of a registry, by tenant and name.
 */
import type { Entry, EntryWithKey } from "./entry.ts"

/** A copy that cannot be changed. What is no plain data in it, such as a function or a secret, is the same. */
const kept = <A>(value: A): A => {
  if (Array.isArray(value)) return Object.freeze(value.map(kept)) as typeof value
  if (typeof value !== "object" || value === null || !isPlain(value)) return value
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, field]) => [key, kept(field)]))) as A
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** One state of an entry, and itself the key of what is made of it: an entry that changes has another. */
export class Revision {
  readonly entry: Entry
  readonly apiKey: EntryWithKey["apiKey"]
  constructor({ apiKey, ...entry }: EntryWithKey) {
    this.entry = kept(entry)
    this.apiKey = apiKey
  }
}

const keyOf = (tenant: string | undefined, name: string): string => JSON.stringify([tenant ?? null, name])

/** The revisions in force. */
export class Revisions {
  private readonly byKey = new Map<string, Revision>()

  /** The one that has exactly this tenant and name. */
  at(tenant: string | undefined, name: string): Revision | undefined {
    return this.byKey.get(keyOf(tenant, name))
  }

  /** What a tenant means by a name: its own, or everybody's. */
  find(tenant: string, name: string): Revision | undefined {
    return this.at(tenant, name) ?? this.at(undefined, name)
  }

  /** Says which one it replaces. */
  set(revision: Revision): Revision | undefined {
    const { name, tenant } = revision.entry
    const before = this.at(tenant, name)
    this.byKey.set(keyOf(tenant, name), revision)
    return before
  }

  /** Says which one it was. */
  delete(tenant: string | undefined, name: string): Revision | undefined {
    const before = this.at(tenant, name)
    this.byKey.delete(keyOf(tenant, name))
    return before
  }

  /** Puts another one of the same entry in the place of this one, if it is still in force. */
  renew(revision: Revision): void {
    const { apiKey, entry } = revision
    if (this.at(entry.tenant, entry.name) === revision) this.set(new Revision({ ...entry, ...(apiKey && { apiKey }) }))
  }

  /** All entries, or those that a tenant can use. */
  entries(tenant?: string): ReadonlyArray<Entry> {
    const all = Array.from(this.byKey.values(), (revision) => revision.entry)
    if (tenant === undefined) return all
    return all.filter(
      (entry) => entry.tenant === tenant || (entry.tenant === undefined && this.at(tenant, entry.name) === undefined)
    )
  }
}
