/**
 * What settings are made of: schemas whose messages say what is expected, all
 * problems of some data at once, and the one rule by which settings are merged.
 *
 * @example
 * ```ts
 * import { merge, optional, problems, wholeFrom } from "@heddle/core/settings"
 * import { Schema } from "effect"
 *
 * const Settings = Schema.Struct({ limit: optional(wholeFrom(0)) })
 * console.log(problems(Settings, { limit: -1 })) // [ 'limit: expected a whole number from 0' ]
 * console.log(merge<typeof Settings.Type>({ limit: 0 }, { limit: 10 })) // { limit: 0 }
 * ```
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** Annotations that say what is expected, in place of all that the Schema library would say. */
export const expecting = (what: string) => ({
  title: what,
  message: () => ({ message: `expected ${what}`, override: true })
})

/** A key that can be left out. */
export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** A whole number, from a least one up. */
export const wholeFrom = (least: number) =>
  Schema.Int.pipe(Schema.greaterThanOrEqualTo(least)).annotations(expecting(`a whole number from ${least}`))

/** One of some words. */
export const oneOf = <const Words extends readonly [string, ...Array<string>]>(...words: Words) =>
  Schema.Literal(...words).annotations(expecting(`one of ${words.join(", ")}`))

/** All that is wrong with data, each with its path (`limits.most`, `names[0]`); keys that nobody knows as well. `at` is where the data itself stands. */
export const problems = <A, I>(schema: Schema.Schema<A, I>, data: unknown, at?: string): ReadonlyArray<string> => {
  const decoded = Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(data)
  if (Either.isRight(decoded)) return []
  return ParseResult.ArrayFormatter.formatErrorSync(decoded.left).map(({ message, path }) => {
    const where = path.reduce<string>(
      (at, key) => (typeof key === "number" ? `${at}[${key}]` : at === "" ? String(key) : `${at}.${String(key)}`),
      at ?? ""
    )
    return where === "" ? message : `${where}: ${message}`
  })
}

/** Merges settings, the first over the others. What was set is set, a zero and a `false` too. */
export const merge = <S extends object>(...settings: ReadonlyArray<S | undefined>): Partial<S> =>
  settings.reduceRight<Partial<S>>((under, over) => ({ ...under, ...said(over) }), {})

/** What is said: a key that is `undefined` says nothing. */
export const said = <S extends object>(settings: S | undefined): Partial<S> => {
  const copy: Partial<S> = { ...settings }
  for (const key of Object.keys(copy)) if (copy[key as keyof S] === undefined) delete copy[key as keyof S]
  return copy
}

/**
 * Makes something of data that stands beside other data: of those keys that are its
 * own. So several can read one object, such as the head of a file, and what no one
 * reads is a mistake.
 */
export interface Reader<out A> {
  readonly keys: ReadonlyArray<string>
  /** Is given those of its keys that are there. Fails with all that is wrong with them. */
  readonly read: (
    data: Readonly<Record<string, unknown>>
  ) => Effect.Effect<A, { readonly problems: ReadonlyArray<string> }>
}
