/**
 * What the AI SDK and `fetch` fail with, as our closed list of reasons. The
 * errors of the AI SDK are told by the symbols that they carry, so that nothing
 * of it is imported.
 */
import { Errors } from "@heddle/core"
import { causeOf, clean } from "../redact.ts"
import { filtered, ofStatus, retryAfterOf, tooLong, unpaid } from "../status.ts"

/** What is looked at of an error, from whatever library. */
interface Signs {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Codes, types and statuses of the provider, in lower case. */
  readonly codes: ReadonlyArray<string>
  readonly message: string
}

type Fields = Readonly<Record<PropertyKey, unknown>>

const isFields = (u: unknown): u is Fields => typeof u === "object" && u !== null

const isSdkError = (error: unknown, name: string): error is Fields =>
  isFields(error) && error[Symbol.for(`vercel.ai.error.AI_${name}`)] === true

/** Errors of the AI SDK that have their reason in their name. */
const byName: ReadonlyArray<readonly [string, Errors.ModelErrorReason]> = [
  ["LoadAPIKeyError", "Authentication"],
  ["TypeValidationError", "InvalidResponse"],
  ["JSONParseError", "InvalidResponse"],
  ["InvalidResponseDataError", "InvalidResponse"],
  ["EmptyResponseBodyError", "InvalidResponse"],
  ["NoContentGeneratedError", "InvalidResponse"],
  ["InvalidPromptError", "BadRequest"],
  ["InvalidArgumentError", "BadRequest"],
  ["UnsupportedFunctionalityError", "BadRequest"],
  ["NoSuchModelError", "BadRequest"],
  ["LoadSettingError", "BadRequest"],
  ["TooManyEmbeddingValuesForCallError", "BadRequest"]
]

/** Codes of providers, wherever they stand in an error; the first that is found decides. */
const byCode: ReadonlyArray<readonly [RegExp, Errors.ModelErrorReason]> = [
  // The provider of Anthropic says so where the first event cannot be read.
  [/^ai_(jsonparse|typevalidation)error$/, "InvalidResponse"],
  [/context_length|context_window|prompt_too_long|string_above_max_length/, "ContextLength"],
  [/content_filter|content_policy|responsibleaipolicy|moderation/, "ContentFilter"],
  [unpaid, "Authentication"],
  [/rate_limit|resource_exhausted|too_many_requests|throttl/, "RateLimited"],
  [/overloaded|unavailable|api_error|server_error|internal/, "Overloaded"],
  [/timeout|deadline_exceeded/, "Timeout"],
  [/authentication|permission|unauthenticated|invalid_api_key/, "Authentication"],
  [/invalid_request|invalid_argument|not_found|failed_precondition|bad_request|request_too_large/, "BadRequest"]
]

const timeouts = /timeout|ETIMEDOUT/i
const networkCodes = /^(E[A-Z]{3,}|UND_ERR_\w+|ERR_(?:SSL|TLS|STREAM)\w*|CERT_\w+|Connection\w+|\w*_CERT\w*)$/

/** What a call failed with, as a `ModelError`. `secrets` are cut out of its message, and an error that has one is no cause. */
export const modelError = (error: unknown, secrets: ReadonlyArray<string> = []): Errors.ModelError => {
  if (error instanceof Errors.ModelError) return error
  const told = refusalIn(error) ?? error
  const signs = signsOf(told)
  const reason = reasonOf(told, signs)
  const retryAfter = retryAfterOf(signs.headers, Date.now())
  const message = shortened(clean(signs.message, secrets))
  return new Errors.ModelError({
    reason,
    message: message === "" ? `The provider failed${signs.status ? ` with status ${signs.status}` : ""}.` : message,
    ...(retryAfter !== undefined && { retryAfter }),
    ...causeOf(error, secrets)
  })
}

/** A server's error that its provider has not understood as one, since it looks like another server's. */
const refusalIn = (error: unknown): unknown => {
  const value = isSdkError(error, "TypeValidationError") ? error["value"] : undefined
  const inner = isFields(value) ? value["error"] : undefined
  return isFields(inner) && typeof inner["message"] === "string" ? inner : undefined
}

const reasonOf = (error: unknown, signs: Signs): Errors.ModelErrorReason => {
  // A stream that was cut, as the provider for servers like OpenAI's says it.
  if (isSdkError(error, "InvalidResponseDataError") && /ended without a finish/.test(signs.message)) return "Network"
  for (const [name, reason] of byName) if (isSdkError(error, name)) return reason
  const status = signs.status !== undefined ? ofStatus(signs.status) : undefined
  const refused = status === undefined || status === "BadRequest"
  const code = ofCodes(signs.codes)
  if (code === "ContextLength" || code === "ContentFilter") return code
  if (refused && tooLong.test(signs.message)) return "ContextLength"
  if (refused && filtered.test(signs.message)) return "ContentFilter"
  if (code === "Authentication" && status === "RateLimited") return code
  // A status that stands for any failure, also of a request that was answered with 200 and an error.
  if (signs.status === 500 && code !== undefined) return code
  return status ?? ofCause(error) ?? code ?? "Unknown"
}

const ofCodes = (codes: ReadonlyArray<string>): Errors.ModelErrorReason | undefined => {
  for (const [pattern, reason] of byCode) if (codes.some((code) => pattern.test(code))) return reason
  return undefined
}

/** The reason that the chain of causes gives: of the network, of an abort, of a response that could not be read. */
const ofCause = (error: unknown): Errors.ModelErrorReason | undefined => {
  let deepest: Errors.ModelErrorReason | undefined
  for (const fields of causes(error)) {
    const name = String(fields["name"] ?? "")
    const code = typeof fields["code"] === "string" ? fields["code"] : ""
    for (const [sdkName, reason] of byName) if (isSdkError(fields, sdkName)) return reason
    // An abort that was not ours: a client gave up.
    if (name === "TimeoutError" || name === "AbortError" || timeouts.test(code)) return "Timeout"
    if (networkCodes.test(code)) deepest = "Network"
    if (fields instanceof TypeError && /fetch|terminated|network/i.test(fields.message)) deepest ??= "Network"
  }
  return deepest
}

/** An error and what caused it, as far as that makes sense. */
const causes = (error: unknown): ReadonlyArray<Fields> => {
  const out: Array<Fields> = []
  for (let at = error; isFields(at) && out.length < 8; at = at["cause"]) out.push(at)
  return out
}

const signsOf = (error: unknown): Signs => {
  if (typeof error === "string") return { status: undefined, headers: {}, codes: [], message: error }
  if (!isFields(error)) return { status: undefined, headers: {}, codes: [], message: "" }
  const codes: Array<string> = []
  collectCodes(error, codes)
  collectCodes(error["data"], codes)
  collectCodes(parsed(error["responseBody"]), codes)
  const status = error["statusCode"] ?? error["status"]
  const message = error["message"]
  // A status of success belongs to a response that could not be read.
  const failed = typeof status === "number" && status >= 400
  return {
    status: failed ? status : undefined,
    headers: isFields(error["responseHeaders"]) ? (error["responseHeaders"] as Record<string, string>) : {},
    codes,
    message: typeof message === "string" ? message : ""
  }
}

/** `type`, `code`, `status`, `name` of an error, and of the one in it. */
const collectCodes = (value: unknown, codes: Array<string>, depth = 0): void => {
  if (!isFields(value) || depth > 3) return
  for (const key of ["type", "code", "status", "name"]) {
    const code = value[key]
    if (typeof code === "string") codes.push(code.toLowerCase())
  }
  collectCodes(value["error"], codes, depth + 1)
  collectCodes(value["innererror"], codes, depth + 1)
}

const parsed = (body: unknown): unknown => {
  if (typeof body !== "string" || body.length > 100_000) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Some libraries say all that they have read. The cause has it. */
const shortened = (message: string): string => (message.length > 500 ? `${message.slice(0, 499)}…` : message)
