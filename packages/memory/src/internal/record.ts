/**
 * What is kept of a run that has ended.
 */
import { type AgentRun, type History, Message } from "@heddle/core"
import * as Effect from "effect/Effect"
import type { Hybrid, Report } from "../ContextMode.ts"

/**
 * The messages of a run, from its input on. Handlers may have changed what was before
 * and the messages themselves, so the input is looked for: the same message, or one
 * of the user at its place, or the last one of the user.
 */
export const messagesOf = (
  history: History.History,
  { history: before, input }: Pick<AgentRun.RunConfig, "history" | "input">
): History.History => {
  const same = history.lastIndexOf(input)
  if (same >= 0) return history.slice(same)
  if (history[before.length]?.role === "user") return history.slice(before.length)
  const last = history.findLastIndex(({ role }) => role === "user")
  return last < 0 ? [input, ...history] : history.slice(last)
}

/** Question and answer, without calls of tools and thoughts. */
export const withoutToolCalls = (messages: History.History, answer: string): History.History => [
  ...messages.slice(0, 1),
  ...(answer === "" ? [] : [Message.assistant(answer)])
]

/** What a report is written of. `messages` are those of the run, `ended` is how it ended. */
export const reportOf = (
  agent: string,
  input: Message.UserMessage,
  messages: History.History,
  ended: Pick<Report, "answer"> | Pick<Report, "error">
): Report => ({
  agent,
  input: Message.text(input),
  toolCalls: messages.flatMap(Message.toolCalls),
  ...ended
})

/** The exchange that tells the main conversation of a run. */
export const reportExchange = (mode: Hybrid, report: Report): Effect.Effect<History.History> =>
  Effect.map(
    Effect.suspend(() => {
      const text = mode.format?.(report) ?? written(mode, report)
      return Effect.isEffect(text) ? text : Effect.succeed(text)
    }),
    (text) => [Message.user(`${report.agent} was asked: ${cut(report.input, mode)}`), Message.assistant(text)]
  )

/** The report, unless another is asked for. */
const written = (mode: Hybrid, report: Report): string => {
  const { agent, answer, error, toolCalls } = report
  const lines =
    error === undefined
      ? [mode.summary ? `${agent} answered: ${cut(answer ?? "", mode)}` : `${agent} answered.`]
      : [`${agent} failed: ${cut(errorText(error), mode)}`]
  if (mode.toolCalls && toolCalls.length > 0) {
    lines.push(
      `Tools that ${agent} called: ${toolCalls.map(({ name, outcome }) => `${name} (${outcome._tag})`).join(", ")}`
    )
  }
  return lines.join("\n")
}

const cut = (text: string, { maxCharacters }: Hybrid): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, "")} …`

const errorText = (error: unknown): string => {
  try {
    const { _tag, message } = error as { readonly _tag?: unknown; readonly message?: unknown }
    return String(message === undefined || message === "" ? (_tag ?? error) : message)
  } catch {
    // An error that cannot be read.
    return "for a reason that cannot be told"
  }
}
