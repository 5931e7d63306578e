/**
 * An agent as one markdown file: the front matter says what it is, in YAML, and the
 * body is its instructions.
 *
 * ```md
 * ---
 * title: Reviewer
 * description: Reads code and says what is wrong with it.
 * contextMode: selective
 * sharePatterns: ["project uses *"]
 * tools:
 *   allow: [read_file, search_files]
 * ---
 * You review code. Say what is wrong first.
 * ```
 *
 * The keys of memory and of retrieval are those of `MemoryData` and `RagData`.
 *
 * @example
 * ```ts
 * import { AgentFile } from "@heddle/cli"
 *
 * const { problems } = AgentFile.parse("---\ncontextMode: isolatd\n---\nBe brief.\n", { path: "agents/terse.md" })
 * console.log(problems.map(({ column, line, message }) => `${line}:${column} ${message}`))
 * ```
 */
import type { FrontMatter } from "./internal/agents/frontMatter.ts"

export { FrontMatter } from "./internal/agents/frontMatter.ts"

/** Where files are looked for: in a project, or in the user's own folder. An agent that comes with the command is `built-in`. */
export type Scope = "project" | "user" | "built-in"

/** An agent. */
export interface AgentFile {
  readonly name: string
  /** The path as it is shown. */
  readonly path: string
  readonly scope: Scope
  readonly head: FrontMatter
  /** The instructions, without the blank lines around them. */
  readonly body: string
}

/** Something that is wrong with a file, or that may not be meant. */
export interface Problem {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** In characters, from 1. */
  readonly column: number
  readonly severity: "error" | "warning"
  readonly message: string
}

/** What was read. There is no agent if there is an error among the problems. */
export interface Parsed {
  readonly agent?: AgentFile
  /** How the agent is called, as far as that is known. */
  readonly name: string
  readonly problems: ReadonlyArray<Problem>
}

export { jsonSchema } from "./internal/agents/jsonSchema.ts"
export { type From, parse } from "./internal/agents/parse.ts"
