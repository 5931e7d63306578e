/**
 * Finds all that makes no sense in what is said of context and memory.
 */
import { problems } from "@heddle/core/settings"
import { type ContextMode, names, type Window } from "../ContextMode.ts"
import type { CallOptions, Options } from "../Memory.ts"
import { defaults, MemorySettings } from "../MemorySettings.ts"
import type { Plan } from "./view.ts"

/** Finds what is wrong with a value, which stands `where`. */
type Check = (where: string, value: unknown) => ReadonlyArray<string>

/** A value as one reads it. */
const shown = (value: unknown, depth = 3): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "function") return "a function"
  if (typeof value !== "object" || value === null) return String(value)
  if (depth === 0) return "…"
  if (Array.isArray(value)) return `[${value.map((one) => shown(one, depth - 1)).join(", ")}]`
  const entries = Object.entries(value).map(([key, one]) => `${key}: ${shown(one, depth - 1)}`)
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`
}

const expected = (where: string, what: string, value: unknown): ReadonlyArray<string> => [
  `${where}: expected ${what}, not ${shown(value)}`
]

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

// -----------------------------------------------------------------------------
// values
// -----------------------------------------------------------------------------

const whole =
  (least: number): Check =>
  (where, value) =>
    Number.isInteger(value) && (value as number) >= least ? [] : expected(where, `a whole number from ${least}`, value)

/** It is looked at elsewhere. */
const elsewhere: Check = () => []

const truth: Check = (where, value) => (typeof value === "boolean" ? [] : expected(where, "true or false", value))

const oneFunction: Check = (where, value) => (typeof value === "function" ? [] : expected(where, "a function", value))

const unless =
  (check: Check): Check =>
  (where, value) =>
    value === undefined ? [] : check(where, value)

const windowProblems: Check = (where, window) => {
  if (isObject(window)) {
    const keys = Object.keys(window)
    for (const key of ["exchanges", "tokens"]) {
      if (keys.length === 1 && keys[0] === key) return whole(0)(`${where}.${key}`, Reflect.get(window, key))
    }
  }
  return expected(where, "{ exchanges } or { tokens }", window)
}

const patternProblems: Check = (where, patterns) => {
  if (!Array.isArray(patterns) || patterns.length === 0) return [`${where}: expected one pattern at least`]
  return patterns.flatMap((pattern: unknown, i) =>
    typeof pattern === "function" || (typeof pattern === "string" && pattern.trim() !== "")
      ? []
      : expected(`${where}[${i}]`, "a text or a predicate", pattern)
  )
}

// -----------------------------------------------------------------------------
// modes and options
// -----------------------------------------------------------------------------

type Checks<Value> = { readonly [Key in keyof Required<Omit<Value, "_tag" | "window">>]: Check }
type Parts = { readonly [Name in ContextMode["_tag"]]: Checks<Extract<ContextMode, { readonly _tag: Name }>> }

/** What is said of a mode, besides its window. */
const parts: Parts = {
  isolated: {},
  shared: { toolCalls: truth },
  hybrid: { summary: truth, maxCharacters: whole(0), toolCalls: truth, errors: truth, format: unless(oneFunction) },
  selective: { patterns: patternProblems, lookBack: whole(1) },
  summarized: { after: whole(1) },
  fork: {}
}

/** What is wrong with the parts of something, and which of its keys nobody knows. */
const partProblems = (value: object, checks: Readonly<Record<string, Check>>, at?: string): ReadonlyArray<string> => {
  const where = (key: string) => (at === undefined ? key : `${at}.${key}`)
  const known = Object.keys(checks)
  const names = known.map((key) => `"${key}"`).join(" | ")
  return [
    ...known.flatMap((key) => checks[key]!(where(key), Reflect.get(value, key))),
    ...Object.keys(value).flatMap((key) =>
      known.includes(key) || Reflect.get(value, key) === undefined
        ? []
        : [`${where(key)}: is unexpected, expected: ${names}`]
    )
  ]
}

/** What is wrong with a mode. */
export const modeProblems = (mode: unknown): ReadonlyArray<string> => {
  const said: unknown = isObject(mode) ? Reflect.get(mode, "_tag") : mode
  const name = names.find((known) => known === said)
  if (name === undefined) return expected("mode", `one of ${names.join(", ")}`, said)
  if (!isObject(mode)) return name === "selective" ? patternProblems("mode.patterns", undefined) : []
  return partProblems(mode, { _tag: elsewhere, window: unless(windowProblems), ...parts[name] }, "mode")
}

/** The window of a mode that may be wrong, if the window is right. */
export const windowIn = (mode: unknown): { readonly window: Window } | undefined => {
  const window: unknown = isObject(mode) ? Reflect.get(mode, "window") : undefined
  // The check is what a window is.
  return windowProblems("window", window).length === 0 ? { window: window as Window } : undefined
}

/** What is wrong with settings, each for itself. */
export const settingsProblems = (settings: unknown): ReadonlyArray<string> =>
  problems(MemorySettings, settings, "settings")

const ofCall: Checks<CallOptions> = { mode: elsewhere, settings: elsewhere }
const ofAgent: Checks<Options> = {
  ...ofCall,
  section: unless((where, section) =>
    section === false || typeof section === "function" ? [] : expected(where, "false or a function", section)
  ),
  name: unless((where, name) => (typeof name === "string" ? [] : expected(where, "a text", name)))
}

/** What is wrong with options, besides mode and settings. */
export const optionProblems = (of: "agent" | "call", options: unknown): ReadonlyArray<string> =>
  isObject(options)
    ? partProblems(options, of === "agent" ? ofAgent : ofCall)
    : expected("options", "an object", options)

// -----------------------------------------------------------------------------
// together
// -----------------------------------------------------------------------------

/** What is wrong with the number of messages from which on summaries are written, beside a window. */
export const triggerProblems = (
  where: string,
  messages: number,
  exchanges: number,
  preset = ""
): ReadonlyArray<string> =>
  messages >= exchanges
    ? []
    : [`${where}: ${messages} messages${preset} is smaller than the window of ${exchanges} exchanges`]

/** What is wrong with a mode and settings that are right each for themselves. */
export const togetherProblems = ({ mode, settings }: Plan): ReadonlyArray<string> => {
  const { historyLimit, summaryEnabled, summaryTrigger } = settings
  const { window } = mode
  const exchanges = window === undefined ? historyLimit : "exchanges" in window ? window.exchanges : 0
  // Of these two the window is of the main conversation; their own has the limit.
  const limit = mode._tag === "selective" || mode._tag === "summarized" ? historyLimit : exchanges
  const preset = summaryTrigger === defaults.summaryTrigger ? " (the default)" : ""
  return [
    ...(mode._tag === "summarized" && window !== undefined ? triggerProblems("mode.after", mode.after, exchanges) : []),
    ...(summaryEnabled ? triggerProblems("settings.summaryTrigger", summaryTrigger, limit, preset) : [])
  ]
}
