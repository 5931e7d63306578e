/** Agents as lists and pages. */
import type { AgentFile, Scope } from "../../AgentFile.ts"
import type { Sheet } from "../Output.ts"
import { oneLine } from "../problems.ts"
import { clean, paint, short } from "../text.ts"
import type { Agents } from "./Agents.ts"
import { contextModes } from "./contextModes.ts"
import { placeOf } from "./secrets.ts"

/** An agent in a list. */
export interface Listed {
  readonly name: string
  readonly scope: Scope
  readonly path: string
  readonly title?: string
  readonly description?: string
  readonly model?: string
  readonly contextMode: string
  /** Whether its file has errors, so that it cannot be run. */
  readonly broken: boolean
}

/** All agents, by name. */
export const list = ({ all, broken, files }: Agents): ReadonlyArray<Listed> => {
  const good = [...all.values()].map((file): Listed => {
    const { contextMode = "isolated", description, model, title } = file.head
    return {
      name: file.name,
      scope: file.scope,
      path: file.path,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(model !== undefined && { model }),
      contextMode,
      broken: false
    }
  })
  const bad = [...broken].map(([name, path]): Listed => {
    const scope = files.find((file) => file.path === path)?.scope ?? "project"
    return { name, scope, path, contextMode: "isolated", broken: true }
  })
  return [...good, ...bad].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

type Page = Pick<Sheet, "colours" | "columns">

/** A list for a person, one agent a line. */
export const listText = (listed: ReadonlyArray<Listed>, sheet: Page): string => {
  const width = Math.min(Math.max(...listed.map(({ name }) => name.length)), 24)
  return listed
    .map((one) => {
      const { broken, description, name, scope, title } = one
      const said = broken ? "has errors: `heddle agents validate` tells which" : (description ?? title ?? "")
      const from = scope === "project" ? "" : ` (${scope})`
      const room = sheet.columns() - width - 3
      // Where there is no room beside the name, what is said stands below it.
      const [gap, rest] =
        room < 20 ? ["\n  ", sheet.columns() - 3] : [" ".repeat(Math.max(2, width + 2 - name.length)), room]
      const text = short(`${said}${from}`, Math.max(rest, 10))
      const shown = paint(sheet, broken ? "red" : "bold", oneLine(name))
      return text === "" ? `${shown}\n` : `${shown}${gap}${broken ? paint(sheet, "red", text) : text}\n`
    })
    .join("")
}

/** All that the file of an agent says, for a person. Values that may be secrets are not shown. */
export const infoText = (agent: AgentFile, sheet: Page): string => {
  const { body, head, name, path, scope } = agent
  const { contextMode = "isolated" } = head
  const lines: Array<readonly [string, unknown]> = [
    ["title", head.title],
    ["description", head.description],
    ["file", `${path} (${scope})`],
    ["model", head.model],
    ["context", `${contextMode}: it ${contextModes[contextMode]}`],
    ["window", head.contextWindow],
    ["patterns", head.sharePatterns],
    ["looks back", head.shareLookBack],
    ["summarizes after", head.summarizeAfter],
    ["shares tool calls", head.shareToolCalls],
    ["report", head.report],
    ["memory", head.memory],
    ["retrieval", head.rag],
    ["documents", head.ragFilter],
    ["tools", head.tools?.allow],
    ["never", head.tools?.deny],
    ["servers", head.mcp && Object.entries(head.mcp).map(([server, said]) => `${server} (${placeOf(said)})`)],
    ["asks", head.agents],
    ["handlers", head.handlers?.map((use) => (typeof use === "string" ? use : use.name))],
    ["steps", head.maxSteps],
    ["at the limit", head.onStepLimit],
    ["output", head.output === undefined ? undefined : "JSON, by a schema"]
  ]
  const said = lines.flatMap(([key, value]) =>
    value === undefined ? [] : [`${paint(sheet, "dim", `${key}:`)} ${oneLine(plain(value))}\n`]
  )
  return `${paint(sheet, "bold", name)}\n${said.join("")}\n${clean(body)}\n`
}

const plain = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(plain).join(", ")
  if (typeof value !== "object" || value === null) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${plain(inner)}`)
    .join(", ")
}
