/**
 * What the AI SDK and `fetch` fail with, as our closed list of reasons. The
 * errors of the AI SDK are told by the symbols that they carry, so that nothing
 * of it is imported.
 */
import { Errors } from "@heddle/core"
import { causeOf, clean, shortened } from "../redact.ts"
import { errorIn, ofCodes, ofRefusal, type Refusal, refusalOf } from "../refusal.ts"
import { retryAfterOf } from "../status.ts"

/** What is looked at of an error, from whatever library. */
interface Signs extends Refusal {
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

const timeouts = /timeout|ETIMEDOUT/i
const networkCodes = /^(E[A-Z]{3,}|UND_ERR_\w+|ERR_(?:SSL|TLS|STREAM)\w*|CERT_\w+|Connection\w+|\w*_CERT\w*)$/

/** What a call failed with, as a `ModelError`. `secrets` are cut out of its message, and an error that has one is no cause. */
export const modelError = (error: unknown, secrets: ReadonlyArray<string> = []): Errors.ModelError => {
  if (error instanceof Errors.ModelError) return error
  const told = refusalIn(error) ?? error
  const signs = signsOf(told)
  const reason = reasonOf(told, signs)
  const { retryAfter } = signs
  return new Errors.ModelError({
    reason,
    message: shortened(clean(unread(told, secrets) ?? signs.message, secrets)) || failed(signs.status),
    ...(retryAfter !== undefined && { retryAfter }),
    ...causeOf(error, secrets)
  })
}

const failed = (status: number | undefined): string =>
  `The provider failed${status === undefined ? "" : ` with status ${status}`}.`

/** What is told of a refusal whose body its provider has not understood: where it came from, and how it begins. */
const unread = (error: unknown, secrets: ReadonlyArray<string>): string | undefined => {
  if (!isSdkError(error, "APICallError") || error["data"] !== undefined) return undefined
  const { message, responseBody: body, statusCode: status, url } = error
  if (typeof status !== "number" || status < 400 || typeof body !== "string" || body.trim() === "") return undefined
  const text = refusalOf(body).text || body
  if (text === message || !statusText.test(String(message))) return undefined
  const at = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined
  const said = shortened(clean(text, secrets).replace(/\s+/g, " ").trim(), mostOfBody)
  const where = at === undefined ? "" : ` at ${at.origin}${at.pathname}`
  return `The provider failed with status ${status}${where}: ${said}`
}

/** What a status is called, which is all that the message has of such a refusal; or nothing, in HTTP/2. */
const statusText = /^[\w' -]{0,40}$/

/** Characters of a body that are told. */
const mostOfBody = 200

/** A server's error that its provider has not understood as one, since it looks like another server's. */
const refusalIn = (error: unknown): unknown => {
  if (isFields(error) && Number(error["statusCode"]) >= 400) return undefined
  const invalid = causes(error).find((cause) => isSdkError(cause, "TypeValidationError"))
  return errorIn(invalid?.["value"])
}

/** Whether a stream was cut, as the provider for servers like OpenAI's says it. */
export const isCut = (error: unknown): boolean =>
  isSdkError(error, "InvalidResponseDataError") && /ended without a finish/.test(String(error["message"]))

const reasonOf = (error: unknown, signs: Signs): Errors.ModelErrorReason => {
  if (isCut(error)) return "Network"
  for (const [name, reason] of byName) if (isSdkError(error, name)) return reason
  return ofRefusal(signs) ?? ofCause(error) ?? ofCodes(signs.codes) ?? "Unknown"
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
  if (!isFields(error)) {
    const message = typeof error === "string" ? error : ""
    return { status: undefined, codes: [], message, text: message, retryAfter: undefined }
  }
  const own = refusalOf(error)
  const bodies = [refusalOf(error["data"]), refusalOf(error["responseBody"])]
  const status = error["statusCode"] ?? error["status"]
  // A status of success belongs to a response that could not be read. What the model says in it is no refusal.
  const failed = typeof status === "number" && status >= 400
  const headers = isFields(error["responseHeaders"]) ? (error["responseHeaders"] as Record<string, string>) : {}
  const said = [own, ...bodies]
  return {
    status: failed ? status : own.status,
    codes: said.flatMap(({ codes }) => codes),
    message: typeof error["message"] === "string" ? error["message"] : "",
    text: (failed ? said : [own]).map(({ text }) => text).join("\n"),
    retryAfter: retryAfterOf(headers, Date.now()) ?? said.find(({ retryAfter }) => retryAfter !== undefined)?.retryAfter
  }
}
