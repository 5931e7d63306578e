/**
 * Finds all that makes no sense in what is said of context and memory.
 */
import { problems } from "@heddle/core/settings"
import type { ContextMode } from "../ContextMode.ts"
import { defaults, MemorySettings } from "../MemorySettings.ts"
import type { Plan } from "./view.ts"

const modes = ["isolated", "shared", "hybrid", "selective", "summarized", "fork"] as const satisfies ReadonlyArray<
  ContextMode["_tag"]
>
type Complete = Exclude<ContextMode["_tag"], (typeof modes)[number]> extends never ? typeof modes : never
/** The names of all modes. */
export const modeNames: Complete = modes

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value)

const isWhole = (value: unknown, least: number): boolean => Number.isInteger(value) && (value as number) >= least

/** What is wrong with a number. */
const wholeProblem = (where: string, value: unknown, least: number): ReadonlyArray<string> =>
  isWhole(value, least) ? [] : [`${where}: expected a whole number from ${least}, not ${shown(value)}`]

/** What is wrong with a window. */
const windowProblems = (where: string, window: unknown): ReadonlyArray<string> => {
  if (typeof window === "object" && window !== null) {
    const keys = Object.keys(window)
    for (const key of ["exchanges", "tokens"]) {
      if (keys.length === 1 && keys[0] === key) return wholeProblem(`${where}.${key}`, Reflect.get(window, key), 0)
    }
  }
  return [`${where}: expected { exchanges } or { tokens }, not ${shown(window)}`]
}

/** What is wrong with patterns. */
const patternProblems = (where: string, patterns: unknown): ReadonlyArray<string> => {
  if (!Array.isArray(patterns) || patterns.length === 0) return [`${where}: expected one pattern at least`]
  return patterns.flatMap((pattern: unknown, i) =>
    typeof pattern === "function" || (typeof pattern === "string" && pattern.trim() !== "")
      ? []
      : [`${where}[${i}]: expected a text or a predicate, not ${shown(pattern)}`]
  )
}

/** What is wrong with a mode. */
export const modeProblems = (mode: unknown): ReadonlyArray<string> => {
  const name: unknown = typeof mode === "object" && mode !== null ? Reflect.get(mode, "_tag") : mode
  if (!modes.some((known) => known === name)) {
    return [`mode: expected one of ${modes.join(", ")}, not ${shown(name)}`]
  }
  if (typeof mode !== "object") return name === "selective" ? patternProblems("patterns", undefined) : []
  const { after, lookBack, maxCharacters, patterns, window } = mode as Readonly<Record<string, unknown>>
  return [
    ...(window === undefined ? [] : windowProblems("window", window)),
    ...(name === "selective"
      ? [...patternProblems("patterns", patterns), ...wholeProblem("lookBack", lookBack, 1)]
      : []),
    ...(name === "summarized" ? wholeProblem("after", after, 1) : []),
    ...(name === "hybrid" ? wholeProblem("maxCharacters", maxCharacters, 0) : [])
  ]
}

/** What is wrong with settings, each for itself. */
export const settingsProblems = (settings: unknown): ReadonlyArray<string> =>
  problems(MemorySettings, settings, "settings")

/** What is wrong with a mode and settings that are right each for themselves. */
export const togetherProblems = ({ mode, settings }: Plan): ReadonlyArray<string> => {
  const { historyLimit, summaryEnabled, summaryTrigger } = settings
  const { window } = mode
  const isOwn = mode._tag === "selective" || mode._tag === "summarized"
  const problems: Array<string> = []
  if (mode._tag === "summarized" && window !== undefined && "exchanges" in window && mode.after < window.exchanges) {
    problems.push(`after: ${mode.after} messages is smaller than the window of ${window.exchanges} exchanges`)
  }
  // Of these two the window is of the main conversation; their own has the limit.
  const limit = window === undefined || isOwn ? historyLimit : "exchanges" in window ? window.exchanges : 0
  if (summaryEnabled && summaryTrigger < limit) {
    const preset = summaryTrigger === defaults.summaryTrigger ? " (the default)" : ""
    problems.push(
      `summaryTrigger: ${summaryTrigger} messages${preset} is smaller than the window of ${limit} exchanges`
    )
  }
  return problems
}
