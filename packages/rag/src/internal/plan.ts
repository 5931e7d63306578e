/**
 * What holds for a run, of what was said of retrieval.
 */
import type { AgentRun } from "@heddle/core"
import { problems } from "@heddle/core/settings"
import { InvalidRag } from "../RagErrors.ts"
import { type Effective, effective, merge, RagSettings } from "../RagSettings.ts"
import { type CallOptions, ofCall } from "./callOptions.ts"
import { type Limits, limits } from "./limits.ts"

/** What holds for a run. */
export interface Plan extends Limits {
  readonly settings: Effective
}

/** Merges what is said, the first over the others, with all filters; refuses what makes no sense. */
const planned = (...said: ReadonlyArray<CallOptions>): Plan | InvalidRag => {
  const found = new Set(said.flatMap(({ settings = {} }) => problems(RagSettings, settings, "settings")))
  if (found.size > 0) return new InvalidRag({ problems: Array.from(found) })
  return {
    settings: effective(merge(...said.map(({ settings }) => settings))),
    ...limits(said.flatMap(({ filter }) => filter ?? []))
  }
}

/**
 * What gives the plan of each run, of what requests and its call say over the options.
 * Throws an `InvalidRag` where the options by themselves make no sense.
 */
export const planning = (options: CallOptions) => {
  const own = planned(options)
  if (own instanceof InvalidRag) throw own
  return (requests: ReadonlyArray<CallOptions>, metadata: AgentRun.RunOptions["metadata"]): Plan | InvalidRag => {
    const said = [...requests, ...ofCall(metadata)]
    return said.length === 0 ? own : planned(...said, options)
  }
}
