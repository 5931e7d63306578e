/**
 * An index that does what the rules say in the plainest way: everything is in one
 * list, and how often a chunk has the words of a query is its score.
 */
import { DocumentIndex, RagErrors, Retriever } from "@heddle/rag"
import { Context, Effect, Layer } from "effect"

interface Kept {
  readonly tenant: string
  readonly collection: string
  readonly document: DocumentIndex.IndexedDocument
}

/** An index that is a retriever as well. */
export interface Both {
  readonly index: DocumentIndex.Service
  readonly retriever: Retriever.Service
}

const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

const score = (query: ReadonlyArray<string>, chunk: DocumentIndex.Chunk): number => {
  const there = words(`${chunk.context} ${chunk.text}`)
  const of = (word: string) => there.filter((other) => other === word).length
  return query.reduce((sum, word) => sum + of(word) / (of(word) + 5), 0) / Math.max(1, query.length)
}

/** Whether a source matches a glob: `*` is any text, `?` any character. */
export const matches = (glob: string, source: string): boolean =>
  new RegExp(
    `^${glob
      .replace(/[^*?]/gu, (one) => one.replace(/[\\^$.|+()[\]{}]/, "\\$&"))
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`,
    "su"
  ).test(source)

const lets = (filter: Retriever.Filter | undefined, kept: Kept, chunk: DocumentIndex.Chunk): boolean =>
  (filter?.collection === undefined || filter.collection === kept.collection) &&
  (filter?.sources === undefined || filter.sources.some((glob) => matches(glob, kept.document.source))) &&
  Object.entries(filter?.metadata ?? {}).every(
    ([key, value]) =>
      Object.hasOwn(chunk.metadata, key) && (chunk.metadata[key] === value || Object.is(chunk.metadata[key], value))
  )

const makesSense = ({ minScore, topK }: Retriever.Query) =>
  Number.isInteger(topK) && topK >= 0 && minScore >= 0 && minScore <= 1

export const make = (): Both => {
  let all: ReadonlyArray<Kept> = []
  const isIn = (of: DocumentIndex.Collection) => (kept: Kept) =>
    kept.tenant === of.tenant && kept.collection === of.name
  const without = (of: DocumentIndex.Collection, sources: ReadonlyArray<string>) =>
    all.filter((kept) => !(isIn(of)(kept) && sources.includes(kept.document.source)))

  return {
    index: {
      documents: (of) =>
        Effect.sync(() =>
          all
            .filter(isIn(of))
            .map(({ document: { chunks, hash, source } }) => ({ source, hash, chunks: chunks.length }))
            .toSorted((a, b) => (a.source < b.source ? -1 : 1))
        ),
      put: (of, documents) =>
        Effect.sync(() => {
          for (const document of structuredClone(documents)) {
            all = [...without(of, [document.source]), { tenant: of.tenant, collection: of.name, document }]
          }
        }),
      remove: (of, sources) => Effect.sync(() => void (all = without(of, sources))),
      clear: (of) => Effect.sync(() => void (all = all.filter((kept) => !isIn(of)(kept))))
    },
    retriever: {
      search: (query) =>
        makesSense(query)
          ? Effect.sync(() => {
              const wanted = [...new Set(words(query.query))]
              return all
                .filter(({ tenant }) => tenant === query.tenant)
                .flatMap((kept) =>
                  kept.document.chunks
                    .filter((chunk) => lets(query.filter, kept, chunk))
                    .map((chunk) => ({
                      id: chunk.id,
                      text: chunk.text,
                      source: kept.document.source,
                      score: score(wanted, chunk),
                      metadata: { ...chunk.metadata }
                    }))
                )
                .filter((passage) => passage.score > 0 && passage.score >= query.minScore)
                .toSorted((a, b) => b.score - a.score)
                .slice(0, query.topK)
            })
          : Effect.fail(new RagErrors.RetrievalError({ reason: "InvalidQuery", message: "The query makes no sense." }))
    }
  }
}

/** A new one for each time that it is built, with what a twin does otherwise. */
export const layer = (twin: (both: Both) => Both = (both) => both) =>
  Layer.effectContext(
    Effect.sync(() => {
      const { index, retriever } = twin(make())
      return Context.make(DocumentIndex.DocumentIndex, index).pipe(Context.add(Retriever.Retriever, retriever))
    })
  )
