/**
 * What a provider says when it refuses, in the body of a response or in the middle of
 * a stream, and which of our reasons that is. Providers differ in where they say it and
 * often mean more than their status does.
 */
import type { Errors } from "@heddle/core"
import { ofStatus } from "./status.ts"

export interface Refusal {
  /** Codes, types and statuses, in lower case. */
  readonly codes: ReadonlyArray<string>
  /** The status of a failure that stands in it, from 400 to 599: a response that began with success has no other. */
  readonly status: number | undefined
  /** What is said in words. */
  readonly text: string
  /** The wait that is asked for, in milliseconds. */
  readonly retryAfter: number | undefined
}

// -----------------------------------------------------------------------------
// what it says
// -----------------------------------------------------------------------------

/** A body with more characters is not read. */
const longestBody = 100_000

/** How deep errors lie in each other. */
const deepest = 5

type Fields = Readonly<Record<string, unknown>>

/** What a body says, as text or as the value that the text stands for. */
export const refusalOf = (body: unknown): Refusal => {
  const codes: Array<string> = []
  const statuses: Array<number> = []
  const texts: Array<string> = []
  const delays: Array<number> = []
  const read = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > deepest) return
    // Google's endpoint for clients of OpenAI puts the error into a list.
    if (Array.isArray(value)) return value.forEach((item) => read(item, depth + 1))
    const fields = value as Fields
    for (const key of ["type", "code", "status", "name", "reason"]) {
      const code = fields[key]
      if (typeof code === "string") codes.push(code.toLowerCase())
    }
    statuses.push(...[fields["code"], fields["status"]].filter(isFailure).map(Number))
    for (const key of ["message", "error", "detail"]) {
      const text = fields[key]
      if (typeof text === "string") texts.push(text)
    }
    const delay = delayOf(fields["retryDelay"])
    if (delay !== undefined) delays.push(delay)
    for (const key of ["error", "innererror", "details"]) read(fields[key], depth + 1)
  }
  const value = typeof body === "string" ? parsed(body) : body
  read(value, 0)
  if (texts.length === 0 && typeof body === "string" && body.length <= longestBody) texts.push(body)
  return { codes, status: statuses[0], text: texts.join("\n"), retryAfter: delays[0] }
}

/** Some write it as a text. */
const isFailure = (status: unknown): boolean =>
  (typeof status === "number" || typeof status === "string") && /^[45]\d\d$/.test(String(status))

/** The error in what came with a status of success: under `error`, as an object or a text, or the whole of it, if it says so. */
export const errorIn = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return undefined
  const fields = value as Fields
  const { error } = fields
  if (typeof error === "string" && error !== "") return { message: error }
  if (typeof error === "object" && error !== null && typeof (error as Fields)["message"] === "string") return error
  return fields["object"] === "error" && typeof fields["message"] === "string" ? fields : undefined
}

/** Google's way to write a time: `34s`, `0.5s`. */
const delayOf = (delay: unknown): number | undefined => {
  const [, seconds] = typeof delay === "string" ? (/^(\d+(?:\.\d+)?)s$/.exec(delay) ?? []) : []
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000)
}

const parsed = (body: string): unknown => {
  if (body.length > longestBody) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

// -----------------------------------------------------------------------------
// what it means
// -----------------------------------------------------------------------------

/** Codes for a model that there is not, or not any more, or not for who asks: they are the same for most providers. */
const noModelCode =
  /^(model_?not_?(found|available|supported)|model_(decommissioned|deprecated)|invalid_model|deployment_?not_?found)$/

/** Codes of providers, wherever they stand in an error; the first that is found decides. */
const byCode: ReadonlyArray<readonly [RegExp, Errors.ModelErrorReason]> = [
  // The provider of Anthropic says so where the first event cannot be read.
  [/^ai_(jsonparse|typevalidation)error$/, "InvalidResponse"],
  [/context_length|context_window|prompt_too_long|string_above_max_length/, "ContextLength"],
  [/content_filter|content_policy|responsibleaipolicy|moderation/, "ContentFilter"],
  // Of an account that cannot pay; another try does not help, though the status is that of a rate limit.
  [/insufficient_quota|billing|credit/, "Authentication"],
  [noModelCode, "Authentication"],
  [/rate_limit|resource_exhausted|too_many_requests|throttl/, "RateLimited"],
  [/overloaded|unavailable|api_error|server_error|internal/, "Overloaded"],
  [/timeout|deadline_exceeded/, "Timeout"],
  [/authentication|permission|unauthenticated|api_key/, "Authentication"],
  [/invalid_request|invalid_argument|not_found|failed_precondition|bad_request|request_too_large/, "BadRequest"]
]

/** How providers say that the request is longer than the model can take. */
const tooLong =
  /context.?(length|window|size)|maximum (context|number of tokens)|prompt is too long|too many (input )?tokens|token count.*exceeds|exceeds? the (available|maximum|model).*(context|token)|input is too long|request_too_large/i

/** How providers say that they will not answer this. */
const filtered = /content.?(management )?policy|content.?filter|safety system|usage polic/i

/** How they say that nobody has paid. Google speaks of "billing details" also where a rate is exceeded. */
const unpaid = /insufficient_quota|credit balance is too low|insufficient (balance|credits?|funds)|enable billing/i

/** How they say that the key is wrong, where the status does not. */
const wrongKey = /api.?key (is )?(not valid|invalid|expired)|(invalid|incorrect) api.?key/i

/** How they say that the model is not there, where there is no code for it. Anthropic says no more than `model: name`. */
const noModel =
  /\bmodels?\b[\s:/]*([`'"]?[\w./:@-]+[`'"]?\s+)?(is |was |has been )?(not found|(does )?not exist|decommissioned|deprecated|retired|no longer (available|supported))|^model: \S+\s*$|no endpoints found for|is not a valid model id|^invalid model\b/im

/** The reason that codes stand for. */
export const ofCodes = (codes: ReadonlyArray<string>): Errors.ModelErrorReason | undefined =>
  byCode.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1]

/**
 * The reason of a refusal, with the status of its response where it had one, else with the
 * one that it says itself; `undefined` if neither status nor words tell. A model that is not to be had is `Authentication`:
 * providers do not tell one that there is not from one that an account may not use.
 */
export const ofRefusal = (
  { codes, status: said, text }: Refusal,
  status: number | undefined = said
): Errors.ModelErrorReason | undefined => {
  const reason = status === undefined ? undefined : ofStatus(status)
  const code = ofCodes(codes)
  if (code === "ContextLength" || code === "ContentFilter") return code
  if (reason === undefined || reason === "BadRequest") {
    if (tooLong.test(text)) return "ContextLength"
    if (filtered.test(text)) return "ContentFilter"
    if (unpaid.test(text) || wrongKey.test(text) || noModel.test(text)) return "Authentication"
    if (reason !== undefined && code === "Authentication") return code
  }
  if (reason === "RateLimited" && (code === "Authentication" || unpaid.test(text))) return "Authentication"
  // A status that stands for any failure, also of a request that was answered with 200 and an error.
  if (status === 500 && code !== undefined) return code
  return reason
}
