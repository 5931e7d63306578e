/**
 * What a line of a chat says: something to the agent of the chat, something to
 * another agent, or a command.
 */
import { unknownName } from "@heddle/core/names"
import { ContextMode } from "@heddle/memory"
import * as Either from "effect/Either"
import { modeNamed } from "../agents/contextModes.ts"
import { type CliError, usage } from "../failure.ts"
import { sentence } from "../text.ts"

/** What a line says. */
export type Said =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Text"; readonly text: string }
  /** `@name rest` */
  | { readonly _tag: "To"; readonly agent: string; readonly rest: string }
  /** `/word rest` */
  | { readonly _tag: "Command"; readonly word: string; readonly rest: string }

/** Reads a line. A text that begins with `/` or `@` is said by doubling that. */
export const parse = (line: string): Said => {
  const text = line.trim()
  if (text === "") return { _tag: "Nothing" }
  if (text.startsWith("//") || text.startsWith("@@")) return { _tag: "Text", text: text.slice(1) }
  const [, mark, word = "", rest = ""] = /^([/@])(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  if (mark === "/") return { _tag: "Command", word, rest }
  if (mark === "@") return { _tag: "To", agent: word, rest }
  return text === "/" ? { _tag: "Command", word: "", rest: "" } : { _tag: "Text", text }
}

/** Reads the name of a context mode. */
export const modeOf = (name: string): Either.Either<ContextMode.Name, CliError> =>
  Either.mapLeft(modeNamed(name), usage)

/** What is said to an agent, and with which context mode. */
export interface Prompt {
  readonly mode?: ContextMode.Name
  readonly text: string
}

const modeOption = "--context-mode"

/** Reads `[--context-mode mode] [--] text`. A text that is one in quotes is the text in them. */
export const promptOf = (rest: string): Either.Either<Prompt, CliError> =>
  Either.map(optionsOf(rest), ({ rest, ...options }) => ({ ...options, text: unquoted(rest) }))

/** Reads the options that stand before a text. */
export const optionsOf = (
  rest: string
): Either.Either<{ readonly mode?: ContextMode.Name; readonly rest: string }, CliError> => {
  const [, option, , value, after = ""] = /^(--[^\s=]*)(=|\s+|$)(\S*)\s*([\s\S]*)$/.exec(rest) ?? []
  if (option === undefined) return Either.right({ rest })
  if (option === "--") return Either.right({ rest: rest.slice(2).trim() })
  if (option !== modeOption) {
    const unknown = unknownName("option", option, [modeOption])
    return Either.left(usage(`${sentence(unknown)} Put -- before a text that begins so.`))
  }
  if (value === undefined || value === "")
    return Either.left(usage(`${modeOption} says which: ${ContextMode.names.join(", ")}.`))
  return Either.flatMap(modeOf(value), (mode) => Either.map(optionsOf(after), (more) => ({ mode, ...more })))
}

/** The text in quotes, of a text that is one. */
export const unquoted = (text: string): string => {
  const trimmed = text.trim()
  const [, , inside] = /^(["'])((?:\\[\s\S]|(?!\1)[^\\])*)\1$/.exec(trimmed) ?? []
  return inside === undefined ? trimmed : inside.replace(/\\(["'\\])/g, "$1")
}

/** The words of a text. What is in quotes is one. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'])+|["']\S*/g) ?? []).map((word) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? "") : double.replace(/\\(["\\])/g, "$1")
    )
  )

/** Words and options among words. */
export interface Arguments<Name extends string> {
  readonly words: ReadonlyArray<string>
  readonly options: Partial<Record<Name, string>>
}

/** Reads words among which there are options: those that take a value, as `--name value` or `--name=value`, and those that take none. */
export const argumentsOf = <Name extends string, Flag extends string = never>(
  text: string,
  known: ReadonlyArray<Name>,
  flags: ReadonlyArray<Flag> = []
): Either.Either<Arguments<Name | Flag>, CliError> => {
  const words: Array<string> = []
  const options: Partial<Record<Name | Flag, string>> = {}
  const all = [...wordsOf(text)]
  for (let word = all.shift(); word !== undefined; word = all.shift()) {
    const [, said, given] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? []
    if (said === undefined) {
      words.push(word)
      continue
    }
    const flag = flags.find((flag) => flag === said)
    const name = known.find((name) => name === said)
    const value = name === undefined ? undefined : (given ?? all.shift())
    if (flag !== undefined) options[flag] = "yes"
    else if (name === undefined) {
      const there = [...known, ...flags].map((name) => `--${name}`)
      return Either.left(usage(unknownName("option", `--${said}`, there)))
    } else if (value === undefined) return Either.left(usage(`--${said} says nothing.`))
    else options[name] = value
  }
  return Either.right({ words, options })
}

/** Takes the first word off a text. */
export const firstWord = (text: string): readonly [word: string, rest: string] => {
  const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? []
  return [word, rest]
}
