/**
 * Settings and filter as plain data, under the keys that they have in the options of a
 * step of a workflow definition.
 *
 * @example
 * ```ts
 * import { Rag, RagData } from "@heddle/rag"
 * import { Effect } from "effect"
 *
 * const options = await Effect.runPromise(
 *   RagData.decode({ rag: { mode: "map_reduce", topK: 8 }, ragFilter: { sources: ["docs/*"] } })
 * )
 * const handler = Rag.handler(options)
 * ```
 */
import type { Agent } from "@heddle/core"
import { expecting, optional, problems, type Reader } from "@heddle/core/settings"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { call, type CallOptions } from "./Rag.ts"
import { InvalidRag } from "./RagErrors.ts"
import { RagSettings } from "./RagSettings.ts"

/** What can be said. */
export const RagData = Schema.Struct({
  rag: optional(RagSettings),
  /** Which documents are searched. */
  ragFilter: optional(
    Schema.Struct({
      collection: optional(Schema.NonEmptyString.annotations(expecting("a name"))),
      sources: optional(Schema.Array(Schema.NonEmptyString.annotations(expecting("a glob")))),
      metadata: optional(
        Schema.Record({
          key: Schema.String,
          value: Schema.Union(Schema.String, Schema.Number, Schema.Boolean).annotations(
            expecting("a text, a number, true or false")
          )
        })
      )
    })
  )
}).annotations({ identifier: "RagData" })
/** What can be said. */
export type RagData = typeof RagData.Type

/** Makes options of data, for the retrieval of an agent or for a call. Fails with all that is wrong with it. */
export const decode = (data: unknown): Effect.Effect<CallOptions, InvalidRag> =>
  Effect.suspend(() => {
    const found = problems(RagData, data)
    if (found.length > 0) return new InvalidRag({ problems: found })
    // The Schema has found nothing wrong, and it changes nothing.
    const { rag, ragFilter } = data as RagData
    return Effect.succeed({
      ...(rag !== undefined && { settings: rag }),
      ...(ragFilter !== undefined && { filter: ragFilter })
    })
  })

/** Reads the options of a call, for whoever reads data in which there is more. */
export const callOptions: Reader<Agent.CallOptions> = {
  keys: Object.keys(RagData.fields),
  read: (data) => Effect.map(decode(data), call)
}
