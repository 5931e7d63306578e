/**
 * The errors of @effect/ai as a `ModelError`, and back.
 */
import * as AiError from "@effect/ai/AiError"
import { Errors } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { causeOf, clean, secretName, secretsOf, shortened } from "../redact.ts"
import { ofCodes, ofRefusal, refusalOf } from "../refusal.ts"
import { retryAfterOf } from "../status.ts"

/** What providers call their errors in a stream, in words. */
const named: ReadonlyArray<readonly [RegExp, Errors.ModelErrorReason]> = [
  [/\bsafety\b/i, "ContentFilter"],
  [/rate.?limit|too many requests|resource_exhausted/i, "RateLimited"],
  [/overloaded|unavailable|api_error|server_error/i, "Overloaded"],
  [/timeout|timed out|deadline/i, "Timeout"],
  [/authentication|permission|api.?key|unauthorized/i, "Authentication"],
  [/invalid_request|not_found|bad request/i, "BadRequest"]
]

const byName = (text: string): Errors.ModelErrorReason =>
  named.find(([pattern]) => pattern.test(text))?.[1] ?? "Unknown"

/** A body that came with a status of success is no refusal. */
const byStatus = (status: number, body: string): Errors.ModelErrorReason =>
  (status >= 400 ? ofRefusal(refusalOf(body), status) : undefined) ?? "InvalidResponse"

const reasonOf = (error: AiError.AiError): Errors.ModelErrorReason => {
  switch (error._tag) {
    case "HttpRequestError":
      return error.reason === "Transport" ? "Network" : "BadRequest"
    case "HttpResponseError":
      // An answer that began well and cannot be read to its end was cut off.
      return error.reason === "Decode" && error.response.status < 300 && isStream(error)
        ? "Network"
        : byStatus(error.response.status, error.body ?? "")
    case "MalformedInput":
      return "BadRequest"
    case "MalformedOutput":
      return "InvalidResponse"
    case "UnknownError":
      return "Unknown"
  }
}

const isStream = (error: AiError.HttpResponseError) =>
  (error.response.headers["content-type"] ?? "").includes("event-stream")

const summary = (error: AiError.AiError): string =>
  error._tag === "MalformedInput" || error._tag === "MalformedOutput"
    ? `${error.module}.${error.method}: ${error.description ?? String(error.cause)}`
    : error.message

/** The secrets that a request was sent with: @effect/ai leaves them in its errors. Of `Bearer abc` a server may repeat `abc`. */
const secretsIn = (error: AiError.AiError): ReadonlyArray<string> => {
  if (error._tag !== "HttpRequestError" && error._tag !== "HttpResponseError") return []
  const { headers, urlParams } = error.request
  return [...Object.entries(headers), ...urlParams].flatMap(([name, value]) =>
    secretName.test(name) && typeof value === "string" ? [value, ...value.split(/\s+/).slice(1)] : []
  )
}

/** The same error without secrets, and without the headers of its request. */
const withoutSecrets = (error: AiError.AiError, secrets: ReadonlyArray<string>): AiError.AiError => {
  const safe = (text: string) => clean(text, secrets)
  const { description, method, module } = error
  const said = { module, method, ...(description !== undefined && { description: safe(description) }) }
  if (error._tag !== "HttpRequestError" && error._tag !== "HttpResponseError") {
    if (causeOf(error, secrets).cause === error) return error
    const fields = { ...said, ...causeOf(error.cause, secrets) }
    if (error._tag === "UnknownError") return new AiError.UnknownError(fields)
    return error._tag === "MalformedInput" ? new AiError.MalformedInput(fields) : new AiError.MalformedOutput(fields)
  }
  const request = {
    ...error.request,
    url: safe(error.request.url),
    urlParams: error.request.urlParams.map(([name, value]) => [name, safe(value)] as const),
    headers: {}
  }
  const fields = { ...said, request }
  if (error._tag === "HttpResponseError") {
    const { body, reason } = error
    const headers = Object.fromEntries(
      Object.entries(error.response.headers).map(([name, value]) => [name, safe(String(value))])
    )
    const response = { ...error.response, headers }
    return new AiError.HttpResponseError({
      ...fields,
      reason,
      response,
      ...(body !== undefined && { body: safe(body) })
    })
  }
  // Its cause has the request again, and in turn what really happened.
  const inner = error.cause instanceof Error ? error.cause.cause : undefined
  return new AiError.HttpRequestError({ ...fields, reason: error.reason, ...causeOf(inner, secrets) })
}

/** What @effect/ai fails with as a `ModelError`, with none of the secrets that are given or that were sent. */
export interface Failures {
  /** What a call failed with, as a failed `ModelError`. */
  readonly failWith: (spanned: unknown) => Effect.Effect<never, Errors.ModelError>
  /** What a provider said went wrong in the middle of a stream. */
  readonly fromErrorPart: (error: unknown) => Errors.ModelError
}

/** The failures of a model that was given these secrets: of a request that is not in an error nothing else is known. */
export const failures = (given: ReadonlyArray<Redacted.Redacted> = []): Failures => {
  const own = given.map(Redacted.value)
  const known = secretsOf(own)
  return {
    failWith: (spanned) => {
      // Where there is a span, and @effect/ai always has one, Effect hands on a proxy of the error.
      const error = Cause.originalError(spanned)
      if (!AiError.isAiError(error)) {
        const message = shortened(clean(String(error), known))
        return Effect.fail(new Errors.ModelError({ reason: "Unknown", message, ...causeOf(error, known) }))
      }
      // A model of ours on the way through theirs.
      const inner = "cause" in error ? Cause.originalError(error.cause) : undefined
      if (inner instanceof Errors.ModelError) return Effect.fail(inner)
      return Effect.map(Clock.currentTimeMillis, (now) => {
        const secrets = secretsOf([...own, ...secretsIn(error)])
        const message = shortened(clean(summary(error), secrets))
        return modelError(reasonOf(error), message, waitOf(error, now), { cause: withoutSecrets(error, secrets) })
      }).pipe(Effect.flatMap(Effect.fail))
    },
    fromErrorPart: (error) => {
      const text = error instanceof Error ? String(error) : (JSON.stringify(error) ?? String(error))
      const refusal = refusalOf(error instanceof Error ? text : error)
      const reason = ofRefusal(refusal) ?? ofCodes(refusal.codes) ?? byName(text)
      return modelError(reason, shortened(clean(text, known)), refusal.retryAfter, causeOf(error, known))
    }
  }
}

const waitOf = (error: AiError.AiError, now: number): number | undefined =>
  error._tag === "HttpResponseError"
    ? (retryAfterOf(error.response.headers, now) ?? refusalOf(error.body).retryAfter)
    : undefined

const modelError = (
  reason: Errors.ModelErrorReason,
  message: string,
  retryAfter: number | undefined,
  cause: { readonly cause?: unknown }
) => new Errors.ModelError({ reason, message, ...(retryAfter !== undefined && { retryAfter }), ...cause })

/** A `ModelError` as theirs. It is the `cause`. */
export const toAiError = (method: string, spanned: Errors.ModelError): AiError.AiError => {
  const error = Cause.originalError(spanned)
  const fields = { module: "Heddle", method, description: `${error.reason}: ${error.message}`, cause: error }
  switch (error.reason) {
    case "BadRequest":
    case "ContextLength":
      return new AiError.MalformedInput(fields)
    case "InvalidResponse":
      return new AiError.MalformedOutput(fields)
    default:
      return new AiError.UnknownError(fields)
  }
}
