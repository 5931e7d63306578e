/**
 * An exact counter of tokens, with `gpt-tokenizer`, which has to be installed. Its
 * tables are loaded when the layer is built: some megabytes.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@heddle/memory"
 * import { layer } from "@heddle/memory/tokenizer"
 * import { Effect } from "effect"
 *
 * const count = Effect.map(TokenCounter.TokenCounter, (counter) => counter.count("Heddle counts tokens."))
 * console.log(await Effect.runPromise(Effect.provide(count, layer())))
 * ```
 * ```text
 * 6
 * ```
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TokenCounter } from "./TokenCounter.ts"

/** The encodings of models: that of current OpenAI models, and that of older ones. For models of others they are a good estimate. */
export type Encoding = "o200k_base" | "cl100k_base"

/** Marks of a tokenizer in a text are text. */
const options = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

const load = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base")
}

/** Counts tokens as an encoding does. */
export const layer = (encoding: Encoding = "o200k_base"): Layer.Layer<never> =>
  Layer.effect(
    TokenCounter,
    Effect.map(Effect.promise(load[encoding]), ({ countTokens }) => ({
      count: (text: string) => countTokens(text, options)
    }))
  )
