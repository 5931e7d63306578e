/**
 * What holds for a run, of what was said of its mode and settings.
 */
import * as ContextMode from "../ContextMode.ts"
import type { CallOptions } from "../Memory.ts"
import { InvalidMemory } from "../MemoryErrors.ts"
import * as MemorySettings from "../MemorySettings.ts"
import { modeProblems, settingsProblems, togetherProblems } from "./check.ts"
import type { Plan } from "./view.ts"

/** Merges what the agent, a call and a request say, and refuses what makes no sense. */
export const planned = (
  agent: CallOptions,
  call: CallOptions = {},
  request: MemorySettings.MemorySettings = {}
): Plan | InvalidMemory => {
  const mode = call.mode ?? agent.mode ?? "isolated"
  const said = [request, call.settings ?? {}, agent.settings ?? {}]
  const problems = [...modeProblems(mode), ...said.flatMap(settingsProblems)]
  if (problems.length > 0) return new InvalidMemory({ problems: Array.from(new Set(problems)) })
  const plan: Plan = {
    mode: ContextMode.make(mode),
    settings: MemorySettings.effective(MemorySettings.merge(...said))
  }
  const together = togetherProblems(plan)
  return together.length === 0 ? plan : new InvalidMemory({ problems: together })
}
