/** How sessions are written down: for a terminal, and as markdown. */
import { Message } from "@heddle/core"
import type { Conversations } from "@heddle/memory"
import { RunRecord } from "@heddle/workflow"
import type { Sheet } from "../Output.ts"
import { clean, paint, short } from "../text.ts"

/** A moment, in the time of this machine: `2026-01-31 09:05`. */
export const when = (at: number): string => {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, "0")
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}` +
    ` ${two(date.getHours())}:${two(date.getMinutes())}`
  )
}

/** Whose conversation it is, for a person. */
export const titleOf = ({ agent }: Conversations.ConversationKey): string =>
  agent === undefined ? "main conversation" : `own conversation of ${agent}`

// -----------------------------------------------------------------------------
// for a terminal
// -----------------------------------------------------------------------------

const longest = 200

/** Lines that tell of an exchange. */
export const exchangeLines = (exchange: Conversations.Exchange, sheet: Sheet): ReadonlyArray<string> => [
  paint(sheet, "dim", `#${exchange.position} ${when(exchange.at)}`),
  ...exchange.messages.flatMap((message) =>
    message.content.flatMap((part): ReadonlyArray<string> => {
      switch (part._tag) {
        case "Text":
          return message.role === "user"
            ? clean(part.text)
                .split("\n")
                .map((line) => paint(sheet, "cyan", `> ${line}`))
            : [`${paint(sheet, "bold", `${short(exchange.agent, longest)}:`)} ${clean(part.text)}`]
        case "File":
          return [paint(sheet, "cyan", `> (${short(part.name ?? "a file", longest)}, ${short(part.mediaType, 50)})`)]
        case "Reasoning":
          return []
        case "ToolCall":
          return [paint(sheet, "dim", `  ${short(callText(part), longest)}`)]
      }
    })
  )
]

const callText = ({ arguments: args, name, outcome }: Message.ToolCall): string =>
  `${name}(${JSON.stringify(args) ?? ""}) ${outcome._tag.toLowerCase()}: ${Message.renderOutcome(outcome)}`

/** Lines that tell of a run of a workflow. */
export const runLines = (run: RunRecord.RunRecord, sheet: Sheet): ReadonlyArray<string> => [
  paint(sheet, "dim", `run of ${short(run.workflow, longest)} ${when(run.startedAt)}: ${run.status}`),
  ...Object.entries({ input: run.input, output: run.output, error: run.error }).flatMap(([name, value]) => {
    const text = RunRecord.toText(value)
    return text === "" ? [] : [`  ${name}: ${short(text, longest)}`]
  })
]

// -----------------------------------------------------------------------------
// as markdown
// -----------------------------------------------------------------------------

/** A text between fences that it cannot close. */
const fenced = (text: string, language = ""): string => {
  const ticks = Math.max(2, ...[...text.matchAll(/`+/g)].map(([found]) => found.length)) + 1
  const fence = "`".repeat(ticks)
  return `${fence}${language}\n${text}\n${fence}`
}

const fencedValue = (value: unknown): string =>
  typeof value === "string" ? fenced(value, "text") : fenced(JSON.stringify(value, undefined, 2) ?? "", "json")

/** What stands before the exchanges of a conversation. */
export const conversationMarkdown = (
  { key }: Pick<Conversations.ConversationInfo, "key">,
  summary: Conversations.Summary | undefined
): string =>
  `## ${heading(sentence(titleOf(key)))}\n\n` +
  (summary === undefined
    ? ""
    : `Summary of the exchanges up to ${summary.through}:\n\n${fenced(summary.text, "text")}\n\n`)

/** All of an exchange. Texts stand as they are; what tools were given and gave, as they had it. */
export const exchangeMarkdown = (exchange: Conversations.Exchange): string => {
  const { agent, at, messages, position } = exchange
  const parts = messages.flatMap((message) =>
    message.content.map((part): string => {
      const who = message.role === "user" ? "User" : heading(agent)
      switch (part._tag) {
        case "Text":
          return `**${who}:**\n\n${part.text}`
        case "File":
          return `**${who}:** a file, ${heading(part.name ?? "without a name")}, ${heading(part.mediaType)}:\n\n${fenced(part.data, "text")}`
        case "Reasoning":
          return `**${who}**, thinking:\n\n${fenced(part.text, "text")}`
        case "ToolCall":
          return toolMarkdown(part)
      }
    })
  )
  return `### ${position}. ${new Date(at).toISOString()}\n\n${parts.map((part) => `${part}\n\n`).join("")}`
}

const toolMarkdown = ({ arguments: args, name, outcome }: Message.ToolCall): string => {
  const gave = outcome._tag === "Succeeded" ? outcome.result : Message.renderOutcome(outcome)
  return `**Tool ${heading(name)}:**\n\n${fencedValue(args)}\n\n${outcome._tag}:\n\n${fencedValue(gave)}`
}

/** All of a run of a workflow. */
export const runMarkdown = (run: RunRecord.RunRecord): string => {
  const { endedAt, error, input, output, startedAt, status, steps, workflow } = run
  const fields = Object.entries({ input, output, error, steps: steps.length === 0 ? undefined : steps })
  const head = `### Run of ${heading(workflow)}, ${new Date(startedAt).toISOString()}: ${status} after ${endedAt - startedAt} ms`
  const said = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [`${sentence(name)}:\n\n${fencedValue(value)}`]
  )
  return `${[head, ...said].join("\n\n")}\n\n`
}

/** A name in a heading, which ends with its line. */
export const heading = (text: string): string => short(text, longest)

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
