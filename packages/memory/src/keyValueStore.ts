/**
 * Conversations in a `KeyValueStore` of `@effect/platform`: in a folder, in a
 * browser, or wherever else there is one.
 *
 * Appending is a constant number of writes. What was acknowledged is there after
 * the process was killed at any moment, and what was not is there as a whole or not
 * at all, even if a value is written in part; that a value is on the disk when the
 * key-value store says so is up to that. A value that is damaged is
 * `ConversationsUnavailable`, with its key in the `cause`.
 *
 * Only one process, and in it only one layer, may use a store at once. Listing reads
 * the keys of all conversations, then each conversation of the page at a moment of
 * its own. Keys begin with `head.`, `exchange.` and `chunk.`, and have up to 120
 * characters.
 *
 * @example
 * ```ts no-run
 * import { KeyValueStore } from "@effect/platform"
 * import * as NodeContext from "@effect/platform-node/NodeContext"
 * import { layer } from "@heddle/memory/keyValueStore"
 * import { Layer } from "effect"
 *
 * const conversations = layer.pipe(
 *   Layer.provide(KeyValueStore.layerFileSystem("conversations")),
 *   Layer.provide(NodeContext.layer)
 * )
 * ```
 */
import { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Conversations } from "./Conversations.ts"
import { keyValueConversations } from "./internal/keyValue/conversations.ts"

/** A store of conversations in a key-value store. */
export const layer: Layer.Layer<Conversations, never, KeyValueStore> = Layer.effect(
  Conversations,
  Effect.map(KeyValueStore, keyValueConversations)
)
