/** Pieces of schemas for settings. */
import * as Schema from "effect/Schema"

/** Says what is expected, in place of all that the Schema library would say. */
export const expecting = (what: string) => ({
  title: what,
  message: () => ({ message: `expected ${what}`, override: true })
})

/** A key that can be left out. */
export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export const wholeFrom = (least: number) =>
  Schema.Int.pipe(Schema.greaterThanOrEqualTo(least)).annotations(expecting(`a whole number from ${least}`))

/** One of some words. */
export const oneOf = <const Words extends readonly [string, ...Array<string>]>(...words: Words) =>
  Schema.Literal(...words).annotations(expecting(`one of ${words.join(", ")}`))
