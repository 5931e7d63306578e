/** Reads an agent from the text of its file. */
import type { AgentFile, Parsed, Scope } from "../../AgentFile.ts"
import { FrontMatter } from "./frontMatter.ts"
import * as Schema from "effect/Schema"
import { parse as parseYaml } from "yaml"

/** Reads an agent from the text of its file, and finds everything that is wrong with it by itself. */
export const parse = (text: string, from: { readonly path: string; readonly scope?: Scope }): Parsed => {
  const { path, scope = "project" } = from
  const called = path.replace(/^.*[\\/]/, "").replace(/\.md$/i, "")
  const [, yaml = "", body = text] = /^---\r?\n([\s\S]*?)\r?\n?---\r?\n?([\s\S]*)$/.exec(text) ?? []
  const head = Schema.decodeUnknownSync(FrontMatter)(parseYaml(yaml) ?? {})
  const agent: AgentFile = { name: head.name ?? called, path, scope, head, body: body.trim() }
  return { agent, name: agent.name, problems: [] }
}
