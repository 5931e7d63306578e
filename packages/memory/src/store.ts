/**
 * For those who write a store of conversations: what every store does in the same
 * way. `checked` keeps nonsense away from it, `begun`, `appended` and so on say what
 * is then known of a conversation, and exchanges and keys become text and come back.
 *
 * @example
 * ```ts
 * import { Message } from "@heddle/core"
 * import { decodeExchange, encodeExchange, placesOf } from "@heddle/memory/store"
 *
 * const text = encodeExchange({ agent: "helper", position: 1, at: 0, messages: [Message.user("Hi")] })
 * console.log(decodeExchange(text).agent) // helper
 * console.log(placesOf({ last: 10 }, 25)) // { after: 15, through: 25 }
 * ```
 */
export { checked, checkThrough, placesOf } from "./internal/store/checked.ts"
export {
  accessed,
  appended,
  begun,
  isRevision,
  isSummarized,
  newGeneration,
  replaced,
  summarized
} from "./internal/store/info.ts"
export { compareKeys, infoPage, keyText, pageOf } from "./internal/store/keys.ts"
export { decodeExchange, encodeExchange, storableText, storedText } from "./internal/store/text.ts"
