/**
 * Searches for a run, and makes of what was found what the model is told.
 */
import { ChatModel, Tenant } from "@heddle/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { NotesFailed, RetrievalError } from "../RagErrors.ts"
import type * as RagSection from "../RagSection.ts"
import { Retriever } from "../Retriever.ts"
import { fitting, numbered, search } from "./find.ts"
import { mapReduce, summarize } from "./notes.ts"
import type { Plan } from "./plan.ts"

/** What was found, and what was spent and went wrong on the way. */
export interface Looked {
  readonly found: RagSection.Found
  /** What the model is shown of each passage. */
  readonly texts: ReadonlyArray<string>
  readonly usage: ChatModel.Usage
  readonly warnings: ReadonlyArray<RetrievalError | NotesFailed>
}

/** What is looked for. */
interface Asked {
  readonly question: string
  /** How many numbers are given already. */
  readonly taken: number
}

/** Searches, and has notes taken where that is asked for. */
export const look = (
  services: Context.Context<Retriever | ChatModel.ChatModel>,
  plan: Plan,
  { question, taken }: Asked
): Effect.Effect<Looked, RetrievalError> => {
  const { settings } = plan
  const { citations, maxCharacters, mode, onFailure, useSummary } = settings
  const looked = Effect.flatMap(
    search(Context.get(services, Retriever), question, Context.get(services, Tenant.Tenant), plan),
    (searched): Effect.Effect<Looked> => {
      const all = numbered(searched, taken)
      const fits = fitting(all, maxCharacters)
      const passages = fits.map(({ passage }) => passage)
      const texts = fits.map(({ text }) => text)
      const stuffed: RagSection.Found = { passages, total: all.length, notes: undefined, failed: false, citations }
      if (passages.length === 0 || (mode !== "map_reduce" && !useSummary))
        return Effect.succeed({ found: stuffed, texts, usage: ChatModel.noUsage, warnings: [] })
      const asking = { model: Context.get(services, ChatModel.ChatModel), settings, question }
      const making = mode === "map_reduce" ? mapReduce(asking, all) : summarize(asking, passages)
      return Effect.map(making, ({ failures, passages, text, usage }) => ({
        found: text === undefined ? stuffed : { ...stuffed, passages, notes: text },
        texts,
        usage,
        warnings: failures
      }))
    }
  )
  const failed = (error: RetrievalError): Looked => ({
    found: { passages: [], total: 0, notes: undefined, failed: true, citations },
    texts: [],
    usage: ChatModel.noUsage,
    warnings: [error]
  })
  return onFailure === "fail" ? looked : Effect.catchAll(looked, (error) => Effect.succeed(failed(error)))
}
