/** Keys with a description, for editors and for people. */
import { optional } from "@heddle/core/settings"
import * as Schema from "effect/Schema"

/** A key that can be left out, and what it is for. */
export const field = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  optional(schema).annotations({ description })

/** A key that has to be there, and what it is for. */
export const needed = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.propertySignature(schema).annotations({ description })

/** Says of each key of others what it is for. */
export const described = <Fields extends Record<string, Schema.PropertySignature.All>>(
  fields: Fields,
  texts: { readonly [Key in keyof Fields]: string }
): Fields =>
  // Annotations leave the type of a key as it is.
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, field.annotations({ description: texts[key]! })])
  ) as Fields
