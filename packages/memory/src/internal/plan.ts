/**
 * What holds for a run, of what was said of its mode and settings.
 */
import * as ContextMode from "../ContextMode.ts"
import type { CallOptions, Options } from "../Memory.ts"
import { InvalidMemory } from "../MemoryErrors.ts"
import * as MemorySettings from "../MemorySettings.ts"
import { modeProblems, optionProblems, settingsProblems, togetherProblems, windowIn } from "./check.ts"
import type { Plan } from "./view.ts"

/** Merges what the agent, a call and a request say, and refuses what makes no sense. */
export const planned = (
  agent: Options,
  call: CallOptions = {},
  request: MemorySettings.MemorySettings = {}
): Plan | InvalidMemory => {
  const ofOptions = [...optionProblems("agent", agent), ...optionProblems("call", call)]
  // Of what is not even an object nothing can be read.
  const [ofAgent, ofCall] = [Object(agent) as Options, Object(call) as CallOptions]
  const mode = ofCall.mode ?? ofAgent.mode ?? "isolated"
  const said = [request, ofCall.settings ?? {}, ofAgent.settings ?? {}]
  const ofMode = modeProblems(mode)
  const ofSettings = said.flatMap(settingsProblems)
  const plan: Plan = {
    // Where it is wrong, what else there is to say is said as of the default.
    mode: ofMode.length === 0 ? ContextMode.make(mode) : ContextMode.isolated(windowIn(mode)),
    settings: MemorySettings.effective(MemorySettings.merge(...(ofSettings.length === 0 ? said : [])))
  }
  const problems = new Set([...ofOptions, ...ofMode, ...ofSettings, ...togetherProblems(plan)])
  return problems.size === 0 ? plan : new InvalidMemory({ problems: Array.from(problems) })
}
