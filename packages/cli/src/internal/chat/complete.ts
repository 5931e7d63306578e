/** What Tab puts into a line of a chat. */
import { ContextMode } from "@heddle/memory"
import { commands } from "./commands.ts"
import type { Completion } from "./Lines.ts"

const modeOption = "--context-mode"

/** Completes what stands before the cursor: commands, agents, and what these take. */
export const complete = (line: string, agents: ReadonlyArray<string>): Completion => {
  const words = line.split(/\s+/)
  const of = words.at(-1)!
  const fitting = (all: ReadonlyArray<string>): Completion => ({
    of,
    candidates: [...new Set(all)].filter((word) => word.startsWith(of)).map((word) => `${word} `)
  })
  const nothing: Completion = { of, candidates: [] }
  const before = words.slice(0, -1)
  const first = before[0]
  if (first === undefined) {
    if (of.startsWith("/")) return fitting(commands.map(({ name }) => `/${name.split(" ")[0]}`))
    return of.startsWith("@") ? fitting(agents.map((name) => `@${name}`)) : nothing
  }
  // In the text itself nothing is completed.
  const options = (said: ReadonlyArray<string>): Completion =>
    said.length === 0 && of.startsWith("-")
      ? fitting([modeOption])
      : said.length === 1 && said[0] === modeOption
        ? fitting(ContextMode.names)
        : nothing
  if (first.startsWith("@")) return options(before.slice(1))
  if (!first.startsWith("/")) return nothing
  const inner = commands.filter(({ name }) => name.startsWith(`${first.slice(1)} `))
  if (inner.length > 0 && before.length === 1) return fitting(inner.map(({ name }) => name.split(" ")[1]!))
  const name = before.slice(0, inner.length > 0 ? 2 : 1).join(" ")
  const said = before.slice(inner.length > 0 ? 2 : 1)
  const command = commands.find((command) => `/${command.name}` === name)
  if (command?.takes === undefined) return nothing
  const { agent, next = [] } = command.takes
  if (said.length === 0) return fitting(agent === "name" ? agents : agents.map((agent) => `@${agent}`))
  if (next.includes(modeOption)) return options(said.slice(1))
  return said.length === 1 ? fitting(next) : nothing
}
