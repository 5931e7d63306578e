/** What several of these tests need. */
import { type ChatModel } from "@heddle/core"
import { DocumentIndex, RagErrors, RagSection, Retriever } from "@heddle/rag"
import { Effect, Layer } from "effect"

/** A passage with a text. */
export const passage = (text: string, fields: Partial<Retriever.Passage> = {}): Retriever.Passage => ({
  id: text.slice(0, 20),
  text,
  source: "notes.md",
  score: 0.5,
  metadata: {},
  ...fields
})

/** A retriever that finds these, whatever is asked, and keeps the queries. */
export const finding = (...passages: ReadonlyArray<Retriever.Passage>) => {
  const queries: Array<Retriever.Query> = []
  const service: Retriever.Service = {
    search: (query) =>
      Effect.sync(() => {
        queries.push(query)
        return passages.filter(({ score }) => score >= query.minScore).slice(0, query.topK)
      })
  }
  return { queries, layer: Layer.succeed(Retriever.Retriever, service) }
}

/** A retriever that fails. */
export const failing = Layer.succeed(Retriever.Retriever, {
  search: () => Effect.fail(new RagErrors.RetrievalError({ reason: "Unavailable", message: "The index is away." }))
})

/** The section of a request with a source. */
export const section = (request: ChatModel.ModelRequest, source: string = RagSection.source) =>
  request.instructions.sections.filter((section) => section.source === source).map(({ text }) => text)

/** A document of texts, each a chunk. */
export const document = (
  source: string,
  texts: ReadonlyArray<string>,
  metadata: Retriever.Metadata = {}
): DocumentIndex.IndexedDocument => ({
  source,
  hash: texts.join(),
  chunks: texts.map((text, i) => ({ id: `${source}#${i}`, text, context: "", metadata }))
})

/** A word of its own for each number, which is its own stem. */
export const word = (n: number): string => `q${Array.from(String(n), (digit) => "bcfghjkmpr"[Number(digit)]).join("")}q`
