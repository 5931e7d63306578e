/**
 * A language model of the AI SDK in memory.
 */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage
} from "@ai-sdk/provider"

const usage: LanguageModelV3Usage = {
  inputTokens: { total: 7, noCache: 3, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: undefined, reasoning: undefined }
}

export const end = {
  finishReason: { unified: "stop", raw: "end_turn" },
  usage,
  providerMetadata: { fake: { id: 1 } }
} as const

export interface Fake extends LanguageModelV3 {
  readonly asked: Array<LanguageModelV3CallOptions>
  /** How many parts of streams have been asked for. */
  pulled: number
  cancelled: boolean
}

/** A model that says contents, or streams parts. */
export const fake = (
  content: ReadonlyArray<LanguageModelV3Content>,
  parts: Iterable<LanguageModelV3StreamPart> = [],
  ending: typeof end | Record<string, unknown> = end
): Fake => {
  const self: Fake = {
    specificationVersion: "v3",
    provider: "fake",
    modelId: "one",
    supportedUrls: {},
    asked: [],
    pulled: 0,
    cancelled: false,
    doGenerate: async (options) => {
      self.asked.push(options)
      return { content: [...content], warnings: [], ...end, ...ending }
    },
    doStream: async (options) => {
      self.asked.push(options)
      const iterator = parts[Symbol.iterator]()
      const stream = new ReadableStream<LanguageModelV3StreamPart>(
        {
          pull: (controller) => {
            self.pulled++
            const { done, value } = iterator.next()
            if (done) controller.close()
            else controller.enqueue(value)
          },
          cancel: () => {
            self.cancelled = true
          }
        },
        { highWaterMark: 0 }
      )
      return { stream }
    }
  }
  return self
}
