/**
 * Errors without what nobody is to see: the secret with which a model is asked, and
 * what it was asked.
 */

/** What keys of providers look like. */
const keyLike = /\b(?:sk|pk|key)-[\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+[\w.~+/=-]{12,}/g

/** Secrets as they were given, and as they are sent: without the white space around them. */
export const secretsOf = (given: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(given.flatMap((secret) => [secret, secret.trim()]))).filter((secret) => secret !== "")

/** A text without secrets, and without what looks like one. */
export const clean = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((text, secret) => text.replaceAll(secret, "<redacted>"), text).replace(keyLike, "<redacted>")

/** Where an error of a library holds the request: the whole conversation. */
const ofRequest = ["requestBodyValues", "prompt", "values"]

/** The values that are looked at in an error. One that has more is not passed on. */
const mostValues = 10_000

/** An error as a cause: without the request; nothing if a secret is anywhere in it. */
export const causeOf = (error: unknown, secrets: ReadonlyArray<string>): { readonly cause?: unknown } => {
  const safe = withoutRequest(error)
  return tells(safe, secrets) ? {} : { cause: safe }
}

/** The same error where it has no request in it, else a copy; so for what caused it. */
const withoutRequest = (error: unknown, depth = 0): unknown => {
  if (!(error instanceof Error) || depth > 8) return error
  const cause = withoutRequest(error.cause, depth + 1)
  const isSame = cause === error.cause && !ofRequest.some((key) => Object.hasOwn(error, key))
  if (isSame) return error
  const { cause: _cause, stack: _stack, ...fields } = Object.getOwnPropertyDescriptors(error)
  const copy: object = Object.create(Object.getPrototypeOf(error) as object | null)
  for (const key of Reflect.ownKeys(fields)) {
    const field = Object.getOwnPropertyDescriptor(error, key)
    if (field !== undefined && !ofRequest.includes(String(key))) Object.defineProperty(copy, key, field)
  }
  // The stack of an error belongs to it in ways of its engine.
  const own = { configurable: true, enumerable: false, writable: true }
  Object.defineProperty(copy, "stack", { ...own, value: error.stack })
  if (error.cause !== undefined) Object.defineProperty(copy, "cause", { ...own, value: cause })
  return copy
}

/** Whether a text anywhere in a value says a secret. A value that is too large to look through might. */
const tells = (value: unknown, secrets: ReadonlyArray<string>): boolean => {
  if (secrets.length === 0) return false
  const seen = new Set<unknown>()
  const open: Array<unknown> = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === "string" && secrets.some((secret) => next.includes(secret))) return true
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
