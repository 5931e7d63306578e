/**
 * Counts the tokens of texts: an estimate, unless a program provides an exact one
 * (`@heddle/memory/tokenizer` has one).
 */
import { type History, Message } from "@heddle/core"
import * as Context from "effect/Context"

/** Counts tokens. */
export interface Service {
  readonly count: (text: string) => number
}

/**
 * About what tokenizers of models make of a text: four characters of the Latin
 * alphabet to a token, two of most others, one of Chinese, Japanese and Korean. A
 * rough measure, rougher for code.
 */
export const estimate = (text: string): number => {
  let quarters = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    quarters += code < 0x0250 ? 1 : code < 0x2e80 ? 2 : 4
  }
  return Math.ceil(quarters / 4)
}

/** The counter in use. */
export class TokenCounter extends Context.Reference<TokenCounter>()("@heddle/memory/TokenCounter", {
  defaultValue: (): Service => ({ count: estimate })
}) {}

/** Tokens that a message takes besides its text. */
const perMessage = 4

/** The tokens of messages: texts, thoughts, arguments and outcomes. Files are not counted. */
export const ofHistory = (counter: Service, history: History.History): number => {
  let tokens = 0
  for (const message of history) {
    tokens += perMessage
    for (const content of message.content) {
      if (content._tag === "Text" || content._tag === "Reasoning") tokens += counter.count(content.text)
      else if (content._tag === "ToolCall") {
        tokens += counter.count(`${content.name} ${JSON.stringify(content.arguments)}`)
        tokens += counter.count(Message.renderOutcome(content.outcome))
      }
    }
  }
  return tokens
}
