/** The parts of an agent, each from what its file says of it; or what is wrong with that. */
import type { Handler, Tool } from "@heddle/core"
import { Memory, MemoryData } from "@heddle/memory"
import { Rag, RagData } from "@heddle/rag"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { AgentFile } from "../../AgentFile.ts"
import { describe } from "../failure.ts"
import type { Choice, Models } from "../models/choose.ts"
import { builtIn } from "../tools/builtIn.ts"
import type { Registry } from "./definition.ts"
import { choosing } from "./globs.ts"
import { namedHandler } from "./named.ts"

type Head = AgentFile["head"]

/** Is told what is wrong, each with its key. */
export type Wrong = (...problems: ReadonlyArray<string>) => void

/** What an Effect gives, or else something that stands in its place while what is wrong is told. */
export const orTold = <A, E, B>(
  effect: Effect.Effect<A, E>,
  otherwise: B,
  tell: (error: E) => void
): Effect.Effect<A | B> =>
  Effect.catchAll(effect, (error) =>
    Effect.sync(() => {
      tell(error)
      return otherwise
    })
  )

/** Of some data what stands under some keys. */
export const pick = (data: object, keys: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => keys.includes(key)))

/** The keys of memory in a front matter. */
export const memoryKeys = Object.keys(MemoryData.MemoryData.fields)
const ragKeys = Object.keys(RagData.RagData.fields)

/** The model of an agent. */
export const modelOf = (
  { head, path }: AgentFile,
  { choice, model }: { readonly choice: Choice; readonly model?: string }
): Choice =>
  model !== undefined
    ? { model, from: "--model" }
    : head.model !== undefined
      ? { model: head.model, from: path }
      : choice

/** What is wrong with the models of an agent, each with who has named it. */
export const wrongModels = (
  { head, path }: AgentFile,
  { from, model }: Choice,
  { entry }: Models
): ReadonlyArray<string> => {
  const own = from === "--model" ? {} : head
  const named = [
    [from === path ? `${path}: model` : from, model],
    [`${path}: memory.summaryModel`, own.memory?.summaryModel],
    [`${path}: rag.notesModel`, own.rag?.notesModel]
  ] as const
  return named.flatMap(([who, name]) => {
    const found = name === undefined ? undefined : entry(name)
    return found !== undefined && Either.isLeft(found) ? [`${who}: ${found.left}`] : []
  })
}

/** The model that does a part of an agent's work: the agent's own unless its file says another; `--model` does all of it. */
const aside = (said: string | undefined, { head, path }: AgentFile, { from }: Choice): string | undefined =>
  from === "--model" ? undefined : (said ?? (from === path ? head.model : undefined))

/** The memory of an agent. */
export const memoryOf = (file: AgentFile, model: Choice, wrong: Wrong): Effect.Effect<Memory.CallOptions> => {
  const options = Effect.map(MemoryData.decode(pick(file.head, memoryKeys)), ({ settings = {}, ...rest }) => {
    const { summaryModel, ...others } = settings
    const by = aside(summaryModel, file, model)
    return { ...rest, settings: { ...others, ...(by !== undefined && { summaryModel: by }) } }
  })
  return orTold(tried(options, Memory.handler), {}, (error) => wrong(...problemsIn(error)))
}

/** The retrieval of an agent; nothing if its file says nothing of it. */
export const ragOf = (file: AgentFile, model: Choice, wrong: Wrong): Effect.Effect<Rag.CallOptions | undefined> => {
  if (ragKeys.every((key) => !(key in file.head))) return Effect.succeed(undefined)
  const options = Effect.map(RagData.decode(pick(file.head, ragKeys)), ({ settings = {}, ...rest }) => {
    const { notesModel, ...others } = settings
    const by = aside(notesModel, file, model)
    return { ...rest, settings: { ...others, ...(by !== undefined && { notesModel: by }) } }
  })
  return orTold(tried(options, Rag.handler), undefined, (error) => wrong(...problemsIn(error)))
}

/** Options of which a handler can be made: some that are right by themselves make no sense together. */
const tried = <A, E>(options: Effect.Effect<A, E>, make: (options: A) => unknown): Effect.Effect<A, unknown> =>
  Effect.tap(options, (options) => Effect.try({ try: () => void make(options), catch: (error) => error }))

const problemsIn = (error: unknown): ReadonlyArray<string> =>
  typeof error === "object" && error !== null && "problems" in error && Array.isArray(error.problems)
    ? error.problems.map(String)
    : [describe(error)]

/** Which tools an agent is offered, of all that there could be, by their names. */
export const offering = ({ tools }: Head): ((tool: string) => boolean) => choosing(tools)

/** The built-in tools of an agent: none, where it does not say which. */
export const toolsOf = (head: Head): ReadonlyArray<Tool.Any> => {
  const offers = offering(head)
  return head.tools?.allow === undefined ? [] : builtIn.filter((tool) => offers(tool.name))
}

/** The handlers that an agent names. */
export const handlersOf = ({ handlers = [] }: Head, registry: Registry, wrong: Wrong): ReadonlyArray<Handler.Any> =>
  handlers.flatMap((use, i) => {
    const made = namedHandler(use, i, registry)
    if (Either.isRight(made)) return [made.right]
    wrong(...made.left.map(({ message }) => message))
    return []
  })
