/** Makes the file of a new agent, of what is said and what the person answers. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { ContextMode } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { stringify } from "yaml"
import type { Problem } from "../../AgentFile.ts"
import { Asking } from "../Asking.ts"
import { Extensions } from "../Extensions.ts"
import { type CliError, failed, usage } from "../failure.ts"
import { isError, oneLine } from "../problems.ts"
import { Project } from "../Project.ts"
import { why } from "../readText.ts"
import { contextModes, modeNamed } from "./contextModes.ts"
import { type FrontMatter, Name } from "./frontMatter.ts"
import { load } from "./load.ts"
import { parse } from "./parse.ts"
import { builtInTools } from "./toolNames.ts"

/** What is said of a new agent. Of the rest the person is asked, if the name or the instructions are missing. */
export interface NewAgent {
  readonly name?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly model?: string | undefined
  readonly contextMode?: ContextMode.Name | undefined
  /** Of the mode `selective`: globs over messages, `*` unless said. */
  readonly sharePatterns?: ReadonlyArray<string> | undefined
  /** Globs over the names of tools. */
  readonly tools?: ReadonlyArray<string> | undefined
  /** `project` unless said. */
  readonly scope?: "project" | "user" | undefined
  /** The instructions. */
  readonly body?: string | undefined
}

/** An agent that was made. */
export interface Created {
  readonly name: string
  /** The path as it is shown. */
  readonly path: string
  /** What may not be meant. */
  readonly warnings: ReadonlyArray<Problem>
}

type Needs = Project | Extensions | Asking | FileSystem | Path

/** Makes the file of an agent. Nothing is overwritten. */
export const create = (said: NewAgent): Effect.Effect<Created, CliError, Needs> =>
  Effect.gen(function* () {
    const { handlers } = yield* Extensions
    const { shown } = yield* Project
    const path = yield* Path
    const scope = said.scope ?? "project"
    const folder = yield* folderOf(scope)
    const { files } = yield* load
    const refuse = (name: string): string | undefined => {
      if (!isName(name)) return `${JSON.stringify(name)} is no name: it has letters, digits, _ and -, 64 at the most.`
      const taken = files.find((file) => file.name === name && file.scope === scope)
      return taken && `There is an agent "${name}" already, in ${taken.path}.`
    }
    if (said.name !== undefined) {
      const refused = refuse(said.name)
      if (refused !== undefined) return yield* usage(refused)
    }
    const isWhole = said.name !== undefined && said.body !== undefined
    const { body, name, ...head } = isWhole
      ? { ...said, name: said.name!, body: said.body! }
      : yield* asked(said, refuse)
    const text = textOf(head, body)
    const at = path.join(folder, `${name}.md`)
    const { problems } = parse(text, { path: shown(at), scope, handlers })
    const errors = problems.filter(isError)
    if (errors.length > 0) return yield* usage(errors.map(({ message }) => oneLine(message)).join("\n"))
    yield* written(at, text)
    return { name, path: shown(at), warnings: problems }
  })

const isName = Schema.is(Name)

/** `.heddle/agents` if it is there, else `agents`; or the user's. */
const folderOf = (scope: "project" | "user") =>
  Effect.gen(function* () {
    const { agentFolders } = yield* Project
    const fs = yield* FileSystem
    const folders = agentFolders.filter((folder) => folder.scope === scope).map(({ path }) => path)
    const [first = ""] = folders
    const isThere = yield* Effect.orElseSucceed(fs.exists(first), () => false)
    return isThere ? first : folders.at(-1)!
  })

const textOf = (head: Omit<NewAgent, "name" | "body">, body: string): string => {
  const { contextMode, description, model, sharePatterns, title, tools } = head
  const front: FrontMatter = {
    ...(filled(title) && { title }),
    ...(filled(description) && { description }),
    ...(filled(model) && { model }),
    ...(contextMode !== undefined && { contextMode }),
    // Without patterns it would not be complete: everything fits this one.
    ...(contextMode === "selective" && { sharePatterns: sharePatterns ?? ["*"] }),
    ...(tools !== undefined && tools.length > 0 && { tools: { allow: tools } })
  }
  const lines = Object.keys(front).length === 0 ? "" : `---\n${stringify(front, { lineWidth: 0 })}---\n`
  return `${lines}${body.trim()}\n`
}

const filled = (text: string | undefined): text is string => text !== undefined && text !== ""

/** Writes a file that is not there yet. */
const written = (at: string, text: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const { shown } = yield* Project
    yield* fs.makeDirectory(path.dirname(at), { recursive: true })
    yield* fs.writeFileString(at, text, { flag: "wx" }).pipe(
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
        () => usage(`${shown(at)} is there already, and nothing is overwritten.`)
      )
    )
  }).pipe(
    Effect.catchTags({
      BadArgument: (error) => failed(`The agent cannot be written: ${why(error)}.`, error),
      SystemError: (error) => failed(`The agent cannot be written: ${why(error)}.`, error)
    })
  )

// -----------------------------------------------------------------------------
// questions
// -----------------------------------------------------------------------------

/** Asks until an answer makes sense. */
const ask = <A>(
  question: string,
  read: (answer: string) => { readonly value: A } | string
): Effect.Effect<A, CliError, Asking> =>
  Effect.flatMap(Asking, ({ ask: asking }) =>
    asking(question).pipe(
      Effect.mapError(() =>
        usage("Nothing was made: there is nobody to ask. Say a name, and --body with the instructions.")
      ),
      Effect.flatMap((line) => {
        const answer = read(line.trim())
        return typeof answer === "string" ? ask(`${answer}\n${question}`, read) : Effect.succeed(answer.value)
      })
    )
  )

const optionalText = (question: string, said: string | undefined) =>
  said === undefined ? ask(question, (value) => ({ value })) : Effect.succeed(said)

const asked = (said: NewAgent, refuse: (name: string) => string | undefined) =>
  Effect.gen(function* () {
    const name = said.name ?? (yield* ask("Name: ", (value) => refuse(value) ?? { value }))
    const title = yield* optionalText("Title, for people (optional): ", said.title)
    const description = yield* optionalText("What it is good for (optional): ", said.description)
    const model = yield* optionalText("Model, such as anthropic/claude-haiku-4-5 (the usual one): ", said.model)
    const contextMode = said.contextMode ?? (yield* ask(modeQuestion, readMode))
    const sharePatterns =
      contextMode === "selective" ? (said.sharePatterns ?? (yield* ask(patternQuestion, readPatterns))) : undefined
    const tools =
      said.tools ?? (yield* ask(`Tools, of ${builtInTools.join(", ")} (none): `, (value) => ({ value: names(value) })))
    const usual = `You are ${title || name}.${description === "" ? "" : ` ${description}`}`
    const body =
      said.body ?? (yield* ask(`Instructions, in one line (${usual}): `, (value) => ({ value: value || usual })))
    return { name, title, description, model, contextMode, sharePatterns, tools, body }
  })

const patternQuestion = "What it sees of the conversation, as patterns with | between them (*): "

const readPatterns = (answer: string) => {
  const patterns = answer
    .split("|")
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== "")
  return { value: patterns.length === 0 ? undefined : patterns }
}

const modeQuestion = [
  "Context modes:",
  ...ContextMode.names.map((mode) => `  ${mode}: it ${contextModes[mode]}`),
  "Context mode (isolated): "
].join("\n")

const readMode = (answer: string): { readonly value: ContextMode.Name | undefined } | string => {
  if (answer === "") return { value: undefined }
  return Either.match(modeNamed(answer), { onLeft: (problem) => problem, onRight: (value) => ({ value }) })
}

/** Names with commas or spaces between them. */
export const names = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((name) => name !== "")
