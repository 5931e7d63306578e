/**
 * Exchanges and keys as text that can be written down.
 */
import { History } from "@heddle/core"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Exchange } from "../../Conversations.ts"

/** An exchange as JSON, without line breaks, NUL or lone surrogates. Throws if it is no JSON, as with a `bigint` or a circle. */
export const encodeExchange = ({ agent, at, messages, position }: Exchange): string =>
  JSON.stringify({ agent, position, at, messages })

/** An exchange from its JSON. Throws an `Error` that says what is wrong with the text. */
export const decodeExchange = (text: string): Exchange => {
  const value: unknown = JSON.parse(text)
  // What a schema gives is a copy, which has lost keys such as "__proto__". A `result` of `undefined` has no JSON.
  const valid = validate(value, { exact: false })
  if (Either.isLeft(valid)) throw new Error(ParseResult.TreeFormatter.formatIssueSync(valid.left))
  return value as Exchange
}

const validate = ParseResult.validateEither(
  Schema.Struct({ agent: Schema.String, position: Schema.Number, at: Schema.Number, messages: History.schema })
)

/**
 * A text without NUL and lone surrogates, which databases and UTF-8 refuse or
 * change. Most texts stay as they are, different ones stay different, and the order
 * by code point stays.
 */
export const storableText = (text: string): string => text.replaceAll(unstorable, escaped)

/** The text that `storableText` was given. */
export const storedText = (text: string): string =>
  text.replaceAll(escape, (_, low: string, lone: string | undefined) =>
    lone === undefined ? originals[low]! : String.fromCharCode(Number.parseInt(lone, 16))
  )

// U+0001 and U+E000 begin an escape, and so are escaped as well: U+0001 stands right
// above NUL, U+E000 right above the surrogates. A lone surrogate comes first of what
// begins with U+E000.
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const unstorable = /[\0\u0001\ue000]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const escape = /(\u0001[\u0001\u0002]|\ue000\u0002)|\ue000\u0001(d[0-9a-f]{3})/g

const originals: Readonly<Record<string, string>> = {
  "\u0001\u0001": "\0",
  "\u0001\u0002": "\u0001",
  "\ue000\u0002": "\ue000"
}

const escaped = (character: string): string => {
  switch (character) {
    case "\0":
      return "\u0001\u0001"
    case "\u0001":
      return "\u0001\u0002"
    case "\ue000":
      return "\ue000\u0002"
    default:
      return `\ue000\u0001${character.charCodeAt(0).toString(16)}`
  }
}
