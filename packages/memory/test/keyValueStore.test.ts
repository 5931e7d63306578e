import { FileSystem, KeyValueStore } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { layer } from "@heddle/memory/keyValueStore"
import { conversations, conversationsAgree } from "@heddle/memory/testing"
import { Effect, Layer } from "effect"

/** A folder that is there as long as the layer is. */
const folder = Layer.unwrapScoped(
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    return KeyValueStore.layerFileSystem(yield* files.makeTempDirectoryScoped())
  })
).pipe(Layer.provide(NodeContext.layer))

conversations(
  "the store over a key-value store in memory keeps the rules",
  Layer.provide(layer, KeyValueStore.layerMemory)
)
conversations("the store over files keeps the rules", Layer.provide(layer, folder))

conversationsAgree(
  "the store over a key-value store does what the one in memory does",
  Layer.provide(layer, KeyValueStore.layerMemory),
  { runs: 100 }
)
conversationsAgree("the store over files does what the one in memory does", Layer.provide(layer, folder), { runs: 10 })
