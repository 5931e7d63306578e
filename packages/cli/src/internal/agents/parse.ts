/** Reads an agent from the text of its file. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { AgentFile, Parsed, Problem, Scope } from "../../AgentFile.ts"
import { largest } from "../readText.ts"
import { type Flaw, flaws, innerKeys, takesText } from "../yaml/flaws.ts"
import { type Place, places } from "../yaml/places.ts"
import { readYaml, type Path, type Yaml } from "../yaml/readYaml.ts"
import { findings } from "./checks.ts"
import type { Registry } from "./definition.ts"
import { FrontMatter, Name } from "./frontMatter.ts"
import { type Parts, split } from "./split.ts"

/** Where a text is from, and what it can name. */
export interface From {
  /** The path as it is shown. */
  readonly path: string
  /** `project` unless said. */
  readonly scope?: Scope
  /** Handlers that it can name. Unless said, it is not looked at which there are. */
  readonly handlers?: Registry
}

/** What was read, for whoever looks at more files than this one. */
export interface Read extends Parsed {
  readonly path: string
  readonly scope: Scope
  /** What the front matter says, of whatever shape. */
  readonly data: Readonly<Record<string, unknown>>
  /** Where something of the front matter stands. */
  readonly place: (path: Path, part?: Flaw["part"]) => Place
}

/** Reads an agent from the text of its file, and finds everything that is wrong with it by itself. Does not throw. */
export const parse = (text: string, from: From): Parsed => {
  const { agent, name, problems } = read(text, from)
  return { ...(agent !== undefined && { agent }), name, problems }
}

/** The name of an agent that does not say how it is called. */
export const nameOf = (path: string): string => path.replace(/^.*[\\/]/, "").replace(/\.md$/i, "")

/** A file that could not be read, and why. */
export const unread = ({ path, scope = "project" }: From, message: string, place = start): Read => ({
  path,
  scope,
  name: nameOf(path),
  data: {},
  place: () => start,
  problems: [{ path, ...place, severity: "error", message }]
})

const start: Place = { line: 1, column: 1 }

/** Reads an agent, with the places of what it says. */
export const read = (text: string, from: From): Read => {
  const quick = readHow(text, from, "quickly")
  return quick.agent === undefined ? readHow(text, from, "thoroughly") : quick
}

const readHow = (text: string, from: From, how: Parameters<typeof readYaml>[1]): Read => {
  const { path, scope = "project" } = from
  const place = places(text)
  const nothing = unread(from, "")
  const wrong = (at: number, message: string): Problem => ({ path, ...place(at), severity: "error", message })
  if (text.length > largest) {
    return unread(from, `too large: more than ${largest} characters`)
  }
  const parts = split(text)
  if ("message" in parts) return { ...nothing, problems: [wrong(parts.at, parts.message)] }
  const { body, head: { at, text: yaml } = { at: 0, text: "" } } = parts
  const said = readYaml(yaml, how)
  const data = Predicate.isRecord(said.value) && !Array.isArray(said.value) ? said.value : undefined
  const isNothing = said.value === null || said.mistakes.length > 0
  const problems = [
    ...said.mistakes.map((mistake) => wrong(at + mistake.at, mistake.message)),
    ...(data === undefined && !isNothing
      ? [wrong(at + said.offsetOf([], "value"), "expected keys with values, such as `title: Clerk`")]
      : []),
    ...(data === undefined ? [] : ofData(data, said, from).slice(0, most + 1)).map(
      ({ message, part, path: inside, severity }) => ({
        path,
        ...place(at + said.offsetOf(inside, part)),
        severity,
        message
      })
    ),
    ...(body.text.trim() === "" ? [wrong(body.at, empty(parts))] : [])
  ]
  const { name: called = nothing.name } = data ?? {}
  const name = isName(called) ? called : nothing.name
  if (name === nothing.name && data?.["name"] === undefined && !isName(name)) {
    const why = "the name of the file is no name of an agent, which has letters, digits, _ and -, 64 at the most"
    problems.push(unplaced(path, `${why}: call the file otherwise, or say "name" in it`))
  }
  const placed = {
    ...nothing,
    name,
    data: data ?? {},
    place: (inside: Path, part: Flaw["part"] = "value") => place(at + said.offsetOf(inside, part)),
    problems: bounded(problems.toSorted((a, b) => a.line - b.line || a.column - b.column))
  }
  if (problems.some(({ severity }) => severity === "error")) return placed
  // The Schema has found nothing wrong, and it changes nothing.
  const head = (data ?? {}) as FrontMatter
  const agent: AgentFile = { name, path, scope, head, body: instructions(body.text) }
  return { ...placed, agent }
}

/** Problems of one file that anybody reads. */
const most = 100

/** The first of them, and that there are more. */
const bounded = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> => {
  if (problems.length <= most) return problems
  const last = problems[most]!
  const severity = problems.some(({ severity }) => severity === "error") ? "error" : "warning"
  return [...problems.slice(0, most), { ...last, severity, message: "there is more, which is not told" }]
}

const unplaced = (path: string, message: string): Problem => ({ path, ...start, severity: "error", message })

const isName = Schema.is(Name)
const shape = flaws(FrontMatter)

const ofData = (data: Readonly<Record<string, unknown>>, { value }: Yaml, { handlers }: From) => [
  ...shape(data).map((flaw) => ({
    ...flaw,
    message: `${flaw.message}${inQuotes(value, flaw)}${elsewhere(flaw)}`,
    severity: "error" as const
  })),
  ...findings(data, handlers)
]

/** YAML makes more of some words than a text. */
const inQuotes = (data: unknown, { part, path }: Flaw): string => {
  const value = path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
    data
  )
  const isWord = typeof value === "number" || typeof value === "boolean"
  return part === "value" && isWord && takesText(FrontMatter, path) ? "; in quotes it is a text" : ""
}

/** A key may stand in the wrong place. */
const elsewhere = ({ message, part, path }: Flaw): string => {
  const [key] = path
  if (part !== "key" || path.length !== 1 || message.endsWith("meant?")) return ""
  const found = inner.get(String(key))
  return found === undefined ? "" : `; is ${JSON.stringify(found)} meant?`
}

/** The paths of keys that stand inside of others, by these keys. */
const inner: ReadonlyMap<string, string> = new Map(innerKeys(FrontMatter))

const empty = ({ head }: Parts): string =>
  `there are no instructions: they are the text ${head === undefined ? "of the file" : "below the front matter"}`

/** Without the blank lines around it. Lines end as they do everywhere else. */
const instructions = (text: string): string =>
  text
    .replace(/\r\n/g, "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd()
