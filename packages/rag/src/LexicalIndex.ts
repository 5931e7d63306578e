/**
 * An index in memory that finds passages by their words (BM25). It needs no
 * embedding model; it is gone when the program ends.
 *
 * A score is the share of what a passage could reach at the most that is full of all
 * the words of the query, each counted by how rare it is. So words that no document
 * has lower the score of everything.
 *
 * Of a query with more than 64 words, the 64 rarest are looked for that any document
 * has: they say the most and cost the least. What comes after its first 512 different
 * words is not looked at.
 *
 * @example
 * ```ts
 * import { DocumentIndex, LexicalIndex, Retriever } from "@heddle/rag"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const index = yield* DocumentIndex.DocumentIndex
 *   const retriever = yield* Retriever.Retriever
 *   yield* index.put(DocumentIndex.collection("notes"), [
 *     {
 *       source: "hours.md",
 *       hash: "1",
 *       chunks: [{ id: "hours-1", text: "We open at nine.", context: "Opening hours", metadata: {} }]
 *     }
 *   ])
 *   const [passage] = yield* retriever.search(Retriever.query("When do you open?"))
 *   console.log(passage?.source) // hours.md
 * })
 * await Effect.runPromise(program.pipe(Effect.provide(LexicalIndex.layer)))
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DocumentIndex, type Service as DocumentIndexService } from "./DocumentIndex.ts"
import { Lexical } from "./internal/lexical.ts"
import { checked } from "./internal/query.ts"
import { Retriever, type Service as RetrieverService } from "./Retriever.ts"

/** An index that is empty. */
export const make = (): { readonly index: DocumentIndexService; readonly retriever: RetrieverService } => {
  const tenants = new Map<string, Lexical>()
  const of = (tenant: string): Lexical => {
    const known = tenants.get(tenant) ?? new Lexical()
    tenants.set(tenant, known)
    return known
  }
  return {
    index: {
      documents: ({ name, tenant }) => Effect.sync(() => tenants.get(tenant)?.documents(name) ?? []),
      put: ({ name, tenant }, documents) => Effect.sync(() => of(tenant).put(name, documents)),
      remove: ({ name, tenant }, sources) => Effect.sync(() => tenants.get(tenant)?.remove(name, sources)),
      clear: ({ name, tenant }) => Effect.sync(() => tenants.get(tenant)?.clear(name))
    },
    retriever: checked((query) => Effect.sync(() => tenants.get(query.tenant)?.search(query) ?? []))
  }
}

/** An index that is empty, a new one each time that the layer is built. */
export const layer: Layer.Layer<DocumentIndex | Retriever> = Layer.effectContext(
  Effect.sync(() => {
    const { index, retriever } = make()
    return Context.make(DocumentIndex, index).pipe(Context.add(Retriever, retriever))
  })
)
