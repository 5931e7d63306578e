/**
 * The rules of a port, as values: for whoever writes down what every store of a
 * kind has to keep, so that others can check theirs. A rule is a check of a
 * service that is new and empty; what is here says how it differs, and has values
 * that are hard to keep.
 *
 * In a vitest suite, `suite` of `@heddle/testing/vitest` makes tests of rules.
 *
 * @example
 * ```ts
 * import { Rules } from "@heddle/testing"
 * import { Context, Effect } from "effect"
 *
 * class Notes extends Context.Tag("Notes")<Notes, Map<string, string>>() {}
 *
 * const rules: ReadonlyArray<Rules.Rule<Notes>> = [
 *   {
 *     rule: "a note can have any name",
 *     check: Effect.gen(function* () {
 *       const notes = yield* Notes
 *       for (const name of Rules.hostile) {
 *         notes.set(name, "text")
 *         yield* Rules.same(`The note ${Rules.shown(name)}`, notes.get(name), "text")
 *       }
 *     })
 *   }
 * ]
 * for (const { check } of rules) await Effect.runPromise(Effect.provideService(check, Notes, new Map()))
 * ```
 */
import { Errors } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { Violation } from "./internal/violation.ts"

export { Violation } from "./internal/violation.ts"

/** A rule, and the check of it, which is given an empty `R`. Fails, or dies, if `R` breaks the rule. */
export interface Rule<R> {
  readonly rule: string
  readonly check: Effect.Effect<void, unknown, R>
}

// -----------------------------------------------------------------------------
// what was found, and what should have been
// -----------------------------------------------------------------------------

/** Fails with a `Violation` if something does not hold. `otherwise` says what is wrong then. */
export const holds = (otherwise: string, found: boolean): Effect.Effect<void, Violation> =>
  found ? Effect.void : Effect.fail(new Violation(otherwise))

/** Fails with a `Violation` if plain data is not the same, key by key; the order of keys is of no account. */
export const same = (what: string, found: unknown, wanted: unknown): Effect.Effect<void, Violation> =>
  equal(found, wanted)
    ? Effect.void
    : Effect.fail(new Violation(`${what}: found ${shown(found)} instead of ${shown(wanted)}`))

/** Fails with a `Violation` if an effect does not die with a `DefinitionError`, as one does that was asked for nonsense. */
export const dies = <R>(what: string, effect: Effect.Effect<unknown, unknown, R>): Effect.Effect<void, Violation, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    const defect = Exit.isFailure(exit) ? Cause.dieOption(exit.cause) : Option.none()
    const wanted = Option.exists(defect, (error) => error instanceof Errors.DefinitionError)
    return holds(`${what} did not die with a DefinitionError`, wanted)
  })

/** A value for people to read: JSON, cut after 500 characters. */
export const shown = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 500 ? `${json.slice(0, 500)}… (${json.length} characters)` : json
}

const equal = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b)
  const keys = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(Reflect.get(a, key), Reflect.get(b, key)))
  )
}

/** Changes all that can be changed in plain data, as one does who does not know that it is shared; what is frozen stays. */
export const spoil = (plain: unknown): void => {
  if (typeof plain !== "object" || plain === null) return
  for (const [key, value] of Object.entries(plain)) {
    spoil(value)
    Reflect.set(plain, key, "spoiled")
  }
  if (Array.isArray(plain)) Reflect.set(plain, plain.length, "spoiled")
}

// -----------------------------------------------------------------------------
// values
// -----------------------------------------------------------------------------

/** The numbers from 0, so many of them. */
export const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

/** Text that does not get shorter by compression: of so many characters from a first one up, the same for the same numbers. */
const noise = (length: number, first: number, kinds: number): string => {
  let state = length
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return String.fromCharCode(first + ((state >>> 8) % kinds))
  }).join("")
}

/** Names that break naive code: what objects have already, what differs in case, spaces or composition only, paths, SQL, long ones. All are different, none is empty. */
export const hostile: ReadonlyArray<string> = [
  "__proto__",
  "constructor",
  "toString",
  " ",
  " padded ",
  "padded",
  "CASE",
  "case",
  "1",
  "01",
  "null",
  "%",
  "_",
  "*",
  "../../x",
  "a/b\\c",
  "'; DROP TABLE runs; --",
  '"quoted"',
  "line\nbreak\ttab",
  "e\u0301",
  "\u00e9",
  "历史 مرحبا 👩‍👩‍👧",
  noise(5000, 33, 94),
  `${noise(5000, 33, 94)}!`,
  // Of Chinese characters.
  noise(3000, 0x4e00, 20_000)
]

/** All that JSON has, with the numbers, texts and keys that are lost most often. */
export const json: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -1.5,
  0.1 + 0.2,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_VALUE,
  Number.MAX_VALUE,
  "",
  " ",
  "null",
  "2025-10-12T15:04:05.000Z",
  "\0\u001f\u007f\u0085\u2028\ufeff\r\n\ud800 'quoted' \"twice\" \\ %s ${x}",
  "e\u0301 \u00e9 历史 مرحبا 👩‍👩‍👧",
  [],
  {},
  [null, [], [[]], { a: [{}] }],
  { "": 0, " ": null, "a.b": [1], $ref: "#", length: 3, constructor: {}, toJSON: 1 },
  JSON.parse('{"__proto__": {"a": 1}, "b": {"__proto__": null}, "then": "x"}'),
  numbers(200).reduce<unknown>((inner) => ({ inner: [inner] }), "deep")
]
