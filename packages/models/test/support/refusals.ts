/** Refusals in the words of the providers, and which of our reasons they are. */
import type { Errors } from "@heddle/core"
import type { providers } from "./models.ts"

export interface Refused {
  readonly provider: keyof typeof providers
  readonly status: number
  readonly body: unknown
  readonly reason: Errors.ModelErrorReason
  readonly retryAfter?: number
}

const google = (code: number, status: string, message: string, ...details: ReadonlyArray<unknown>) => ({
  error: { code, message, status, details }
})
const openai = (message: string, type: string, code: string | null) => ({ error: { message, type, param: null, code } })
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_1" })

const wrongKey = google(
  400,
  "INVALID_ARGUMENT",
  "API key not valid. Please pass a valid API key.",
  {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "API_KEY_INVALID",
    domain: "googleapis.com",
    metadata: { service: "generativelanguage.googleapis.com" }
  },
  {
    "@type": "type.googleapis.com/google.rpc.LocalizedMessage",
    locale: "en-US",
    message: "API key not valid. Please pass a valid API key."
  }
)

const noQuota = google(
  429,
  "RESOURCE_EXHAUSTED",
  "You exceeded your current quota, please check your plan and billing details.",
  {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    violations: [
      {
        quotaMetric: "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        quotaValue: "10"
      }
    ]
  },
  { "@type": "type.googleapis.com/google.rpc.Help", links: [{ description: "Learn more about Gemini API quotas" }] },
  { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }
)

const noCredit = anthropic(
  "invalid_request_error",
  "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."
)

/** A wrong key, an account that cannot pay, a wait. */
export const account: Readonly<Record<string, Refused>> = {
  "a wrong key at Google": { provider: "google", status: 400, body: wrongKey, reason: "Authentication" },
  "a wrong key at Google, asked as if it were OpenAI": {
    provider: "openai-compatible",
    status: 400,
    body: [wrongKey],
    reason: "Authentication"
  },
  "a wrong key at xAI": {
    provider: "openai-compatible",
    status: 400,
    body: {
      code: "Client specified an invalid argument",
      error: "Incorrect API key provided: no. You can obtain an API key from https://console.x.ai."
    },
    reason: "Authentication"
  },
  "no billing at Google": {
    provider: "google",
    status: 400,
    body: google(
      400,
      "FAILED_PRECONDITION",
      "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio."
    ),
    reason: "Authentication"
  },
  "no credit at Anthropic": { provider: "anthropic", status: 400, body: noCredit, reason: "Authentication" },
  "no credit at OpenAI": {
    provider: "openai, responses",
    status: 429,
    body: openai(
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
      "insufficient_quota"
    ),
    reason: "Authentication"
  },
  "a rate that is exceeded at Google": {
    provider: "google",
    status: 429,
    body: noQuota,
    reason: "RateLimited",
    retryAfter: 34_000
  },
  "another value that is not valid at Google": {
    provider: "google",
    status: 400,
    body: google(400, "INVALID_ARGUMENT", "* GenerateContentRequest.contents: contents is not specified"),
    reason: "BadRequest"
  },
  "another request that is not valid at Anthropic": {
    provider: "anthropic",
    status: 400,
    body: anthropic("invalid_request_error", "`temperature` is deprecated for this model."),
    reason: "BadRequest"
  }
}

/** A model that there is not, or not any more. */
export const gone: Readonly<Record<string, Refused>> = {
  "at OpenAI": {
    provider: "openai, responses",
    status: 404,
    body: openai(
      "The model `gpt-5x` does not exist or you do not have access to it.",
      "invalid_request_error",
      "model_not_found"
    ),
    reason: "Authentication"
  },
  "at OpenAI's chat": {
    provider: "openai, chat",
    status: 404,
    body: openai("The model `gpt-4-32k` has been deprecated.", "invalid_request_error", "model_not_found"),
    reason: "Authentication"
  },
  "at Anthropic": {
    provider: "anthropic",
    status: 404,
    body: anthropic("not_found_error", "model: claude-3-5-sonnet-20240620"),
    reason: "Authentication"
  },
  "at Google": {
    provider: "google",
    status: 404,
    body: google(
      404,
      "NOT_FOUND",
      "models/gemini-1.5-flash is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
    ),
    reason: "Authentication"
  },
  "at Groq": {
    provider: "openai-compatible",
    status: 400,
    body: openai(
      "The model `gemma2-9b-it` has been decommissioned and is no longer supported.",
      "invalid_request_error",
      "model_decommissioned"
    ),
    reason: "Authentication"
  },
  "at Ollama": {
    provider: "ollama",
    status: 404,
    body: openai('model "llama9" not found, try pulling it first', "api_error", null),
    reason: "Authentication"
  }
}
