/**
 * Errors without what nobody is to see: the secret with which a model is asked, and
 * what it was asked.
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"

/** What keys of providers look like. */
const keyLike = /\b(?:sk|pk|key)-[\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+[\w.~+/=-]{12,}/g

/** Characters that a secret has at least. What is shorter keeps nobody out, and would be cut out of any sentence. */
const shortest = 4

/** Characters from which on a secret is cut out wherever it stands. A shorter one may be a piece of a word, and stays there. */
const certain = 8

/**
 * Secrets as they were given, as they are sent (without the white space around them), and as a server may write them:
 * in a URL, in JSON, in base64. The longest comes first, since it may hold another. One that is blank or too short is none.
 */
export const secretsOf = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const told = given.flatMap((secret) => [secret, secret.trim()]).filter((secret) => secret.trim().length >= shortest)
  return Array.from(new Set(told.flatMap(formsOf))).toSorted((a, b) => b.length - a.length)
}

/** A secret, and how it looks where it is encoded. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  // A half of a character has no code in a URL.
  const inUrl = Either.getOrElse(Encoding.encodeUriComponent(secret), () => secret)
  const base64 = Encoding.encodeBase64(secret).replace(/=+$/, "")
  return [
    secret,
    inUrl,
    inUrl.replace(/%../g, (code) => code.toLowerCase()),
    inUrl.replaceAll("%20", "+"),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replaceAll("+", "-").replaceAll("/", "_")
  ]
}

/** What headers and parameters with a secret are called. */
export const secretName = /auth|key|token|secret|cookie|password/i

/**
 * What may be a secret in the headers of every request: what is called so, and what is long enough. Of `Bearer abc` a
 * server may repeat `abc`.
 */
export const inHeaders = (headers: Readonly<Record<string, string>> = {}): ReadonlyArray<string> =>
  Object.entries(headers)
    .filter(([name, value]) => secretName.test(name) || value.trim().length >= certain)
    .flatMap(([, value]) => [value, value.replace(/^\s*(bearer|basic|token|api-?key)\s+/i, "")])

/** Where one side at least is neither letter nor digit. */
const edge = String.raw`(?:(?<![\p{L}\p{N}])|(?![\p{L}\p{N}]))`

/** Where a secret stands. */
const placesOf = (secret: string): RegExp => {
  const exactly = secret.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return new RegExp(secret.length < certain ? edge + exactly + edge : exactly, "gu")
}

/** A text without secrets. */
export const without = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((text, secret) => text.replace(placesOf(secret), "<redacted>"), text)

/** A text without secrets, and without what looks like one. */
export const clean = (text: string, secrets: ReadonlyArray<string>): string =>
  without(text, secrets).replace(keyLike, "<redacted>")

/** A message that can be read. Some libraries say all that they have received; the cause has it. */
export const shortened = (message: string, most = 500): string =>
  message.length > most ? `${message.slice(0, most - 1)}…` : message

/** Where an error of a library holds the request: the whole conversation. */
const ofRequest = ["requestBodyValues", "prompt", "values"]

/** The values that are looked at in an error. One that has more is not passed on. */
const mostValues = 10_000

/** An error as a cause: without the request; nothing if a secret is anywhere in it. */
export const causeOf = (error: unknown, secrets: ReadonlyArray<string>): { readonly cause?: unknown } => {
  const safe = withoutRequest(error)
  return safe === undefined || tells(safe, secrets) ? {} : { cause: safe }
}

/** Causes of causes that are kept. */
const deepest = 8

/** The same error where it has no request in it, else a copy; so for what caused it. */
const withoutRequest = (error: unknown, depth = 0): unknown => {
  if (depth > deepest) return undefined
  if (!(error instanceof Error)) return error
  const cause = withoutRequest(error.cause, depth + 1)
  if (cause === error.cause && !ofRequest.some((key) => Object.hasOwn(error, key))) return error
  // The stack of an error belongs to it in ways of its engine, so it is copied as text.
  const own = { configurable: true, enumerable: false, writable: true }
  const fields: PropertyDescriptorMap = {
    ...Object.getOwnPropertyDescriptors(error),
    stack: { ...own, value: error.stack },
    cause: { ...own, value: cause }
  }
  for (const key of ofRequest) delete fields[key]
  const prototype: unknown = Object.getPrototypeOf(error)
  // A prototype is an object or null.
  return Object.create(prototype as object | null, fields)
}

/** Whether a text anywhere in a value says a secret. A value that is too large to look through might. */
const tells = (value: unknown, secrets: ReadonlyArray<string>): boolean => {
  if (secrets.length === 0) return false
  const places = secrets.map(placesOf)
  const seen = new Set<unknown>()
  const open: Array<unknown> = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === "string" && places.some((place) => next.search(place) >= 0)) return true
    if (typeof next !== "object" || next === null || seen.has(next)) continue
    if (seen.add(next).size > mostValues) return true
    try {
      if (next instanceof Headers || next instanceof Map) open.push(...Array.from(next.entries()).flat())
      else if (!ArrayBuffer.isView(next))
        for (const key of Reflect.ownKeys(next)) open.push(key, Reflect.get(next, key))
    } catch {
      // What cannot be looked into is not passed on.
      return true
    }
  }
  return false
}
