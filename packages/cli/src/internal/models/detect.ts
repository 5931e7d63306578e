/**
 * What models there are without anybody naming one: keys in the environment, and an
 * Ollama on this machine. For the choice of a model, and for whoever tells of it.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { Environment, type Service, variable } from "../Environment.ts"
import { describe } from "../failure.ts"

/** Something that was looked at. No secret is in it. */
export interface Looked {
  /** A variable of the environment, or an address. */
  readonly what: string
  /** The model that answers where nobody names one. Missing if there is none. */
  readonly model?: string
  /** What was found, or why nothing was. */
  readonly found: string
  /** What can be done where nothing was found. */
  readonly remedy?: string
}

/** Variables with keys, in the order in which they count, and the model that each stands for. */
const keys = [
  { variable: "ANTHROPIC_API_KEY", model: "anthropic/claude-haiku-4-5" },
  { variable: "OPENAI_API_KEY", model: "openai/gpt-5-mini" },
  { variable: "GOOGLE_GENERATIVE_AI_API_KEY", model: "google/gemini-2.5-flash" }
] as const

/** Looks for keys. What they are is not looked at. */
export const lookForKeys: Effect.Effect<ReadonlyArray<Looked>, never, Environment> = Effect.map(
  Environment,
  (environment) =>
    keys.map(({ model, variable: name }) =>
      variable(environment, name) === undefined
        ? { what: name, found: "not set", remedy: `Set it to an API key to have ${model} answer.` }
        : { what: name, found: "set", model }
    )
)

/** Where Ollama is: what `OLLAMA_HOST` says, which it reads itself in the same way, or this machine. */
export const ollamaAddress = (environment: Pick<Service, "variables">): Either.Either<URL, string> => {
  const said = variable(environment, "OLLAMA_HOST")?.trim() ?? "127.0.0.1:11434"
  const host = said.startsWith(":") ? `127.0.0.1${said}` : said
  const text = /^https?:\/\//i.test(host) ? host : `http://${/:\d+\/?$/.test(host) ? host : `${host}:11434`}`
  if (!URL.canParse(text)) return Either.left("OLLAMA_HOST is no address.")
  const url = new URL(text)
  if (url.username !== "" || url.password !== "") return Either.left("OLLAMA_HOST has a user name or a password in it.")
  // Where a server listens on all addresses, it is found at this one.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  return Either.right(url)
}

/** The address of a path below another. */
const below = (url: URL, path: string): string => `${url.origin}${url.pathname.replace(/\/+$/, "")}${path}`

/** Where Ollama speaks the language of OpenAI. */
export const ollamaBaseUrl = (environment: Pick<Service, "variables">): string | undefined =>
  Either.getOrUndefined(Either.map(ollamaAddress(environment), (url) => below(url, "/v1")))

const Tags = Schema.Struct({
  models: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      details: Schema.optional(Schema.NullOr(Schema.Struct({ family: Schema.optional(Schema.NullOr(Schema.String)) })))
    })
  )
})

/** Models that give vectors, and no answers. */
const isEmbedding = ({ details, name }: (typeof Tags.Type)["models"][number]): boolean =>
  /embed|minilm|bge-|reranker/i.test(name) || /bert/i.test(details?.family ?? "")

/** Longer than a machine in the same room takes, and shorter than a person waits. */
const patience = "400 millis"

/** Bytes of the list of models at the most. */
const most = 10_000_000

/** Asks a local Ollama for its models. */
export const lookForOllama: Effect.Effect<Looked, never, Environment> = Effect.gen(function* () {
  const address = ollamaAddress(yield* Environment)
  if (Either.isLeft(address)) {
    return { what: "Ollama", found: address.left, remedy: "Set OLLAMA_HOST to host:port, or unset it." }
  }
  const what = `Ollama at ${below(address.right, "")}`
  const nothing = (found: string, remedy: string): Looked => ({ what, found, remedy })
  const start = "Install it from https://ollama.com and start it, or set OLLAMA_HOST to where it is."
  return yield* Effect.tryPromise({
    try: async (signal) => {
      // What comes with Node as `fetch` takes longer to load than all of this.
      const { get } = await import("../http/request.ts")
      const { bytes, status } = await get(new URL(below(address.right, "/api/tags")), most, signal)
      if (status !== 200) throw new Error(`it answered with status ${status}`)
      return Schema.decodeUnknownEither(Schema.parseJson(Tags))(new TextDecoder().decode(bytes))
    },
    catch: (cause) => nothing(`does not answer (${reasonOf(cause)})`, start)
  }).pipe(
    Effect.timeoutFail({ duration: patience, onTimeout: () => nothing("does not answer in time", start) }),
    Effect.map((tags): Looked => {
      if (Either.isLeft(tags)) return nothing("answers, but not as Ollama does", start)
      const first = tags.right.models.find((model) => !isEmbedding(model))
      return first === undefined
        ? nothing("is there, without a model that answers", "Get one: ollama pull llama3.2")
        : { what, found: `has ${first.name}`, model: `ollama/${first.name}` }
    }),
    Effect.merge
  )
})

const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  const code = typeof inner === "object" && inner !== null && "code" in inner ? inner.code : undefined
  return typeof code === "string" ? code : describe(inner)
}

/** Looks everywhere, for a person who wants to know what there is. */
export const lookEverywhere: Effect.Effect<ReadonlyArray<Looked>, never, Environment> = Effect.zipWith(
  lookForKeys,
  lookForOllama,
  (found, ollama) => [...found, ollama]
)
