/**
 * What holds for a run, of what was said of retrieval.
 */
import { problems } from "@heddle/core/settings"
import type { CallOptions } from "../Rag.ts"
import { InvalidRag } from "../RagErrors.ts"
import { type Effective, effective, merge, RagSettings } from "../RagSettings.ts"
import { type Limits, limits } from "./limits.ts"

/** What holds for a run. */
export interface Plan extends Limits {
  readonly settings: Effective
}

/** Merges what is said, the first over the others, with all filters; refuses what makes no sense. */
export const planned = (...said: ReadonlyArray<CallOptions>): Plan | InvalidRag => {
  const found = new Set(said.flatMap(({ settings = {} }) => problems(RagSettings, settings, "settings")))
  if (found.size > 0) return new InvalidRag({ problems: Array.from(found) })
  return {
    settings: effective(merge(...said.map(({ settings }) => settings))),
    ...limits(said.flatMap(({ filter }) => filter ?? []))
  }
}
