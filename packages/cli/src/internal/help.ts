/**
 * What a command can do, for a person: on a terminal by `--help`, and in the documents.
 * The library knows it; said in its way, each option takes eight lines.
 */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Descriptor from "@effect/cli/CommandDescriptor"
import * as HelpDoc from "@effect/cli/HelpDoc"
import type { Span } from "@effect/cli/HelpDoc/Span"
import { paint } from "./text.ts"
import type { Sheet } from "./Output.ts"

/** Any command. */
export type Command = Descriptor.Command<unknown>

/** Something that can be said to a command, or one of its commands. */
interface Item {
  readonly name: string
  readonly text: string
}

/** What a command can do. */
export interface Help {
  /** Its name, after those of the commands that it belongs to. */
  readonly path: ReadonlyArray<string>
  readonly description: string
  readonly arguments: ReadonlyArray<Item>
  readonly options: ReadonlyArray<Item>
  readonly commands: ReadonlyArray<Item>
}

const config: CliConfig.CliConfig = { ...CliConfig.defaultConfig, showBuiltIns: false }

const inner = new WeakMap<Command, ReadonlyArray<Command>>()

/** Notes what commands a command has. The library itself tells of one level of them. */
export const grouping = <C extends { readonly descriptor: Command }>(
  group: C,
  commands: ReadonlyArray<{ readonly descriptor: Command }>
): C => {
  inner.set(
    group.descriptor,
    commands.map(({ descriptor }) => descriptor)
  )
  return group
}

/** The commands of a command, by name, in the order in which it has them. */
const commandsOf = (command: Command): ReadonlyArray<readonly [name: string, command: Command]> =>
  (inner.get(command) ?? []).flatMap((one) => Array.from(Descriptor.getNames(one), (name) => [name, one] as const))

/** The command that arguments lead to, and the names on the way. What is no name of a command ends the way. */
export const commandAt = (root: Command, name: string, args: ReadonlyArray<string>) => {
  let command = root
  const path = [name]
  for (const arg of args) {
    const next = commandsOf(command).find(([known]) => known === arg)
    if (next === undefined) break
    path.push(next[0])
    command = next[1]
  }
  return { command, path }
}

/** What a command can do. */
export const helpOf = (command: Command, path: ReadonlyArray<string>): Help => {
  const said = sections(Descriptor.getHelp(command, config))
  const items = (name: string) => said.get(name) ?? []
  return {
    path,
    description: items("DESCRIPTION")
      .map(({ texts }) => texts.join(" "))
      .join(" "),
    arguments: items("ARGUMENTS").map(({ name, texts }) => ({
      name: argumentName(name, texts),
      text: described(texts)
    })),
    options: items("OPTIONS").map(({ name, texts }) => ({ name, text: described(texts) })),
    commands: commandsOf(command).map(([name, inner]) => ({
      name,
      text: helpOf(inner, [...path, name]).description
    }))
  }
}

/** The library tells first of the kind of the value, then what we have said, then whether it can be left out. */
const described = (texts: ReadonlyArray<string>): string => texts[1] ?? ""

const argumentName = (name: string, texts: ReadonlyArray<string>): string => {
  const bare = name.replace(/\.\.\.$/, "")
  const dots = texts.some((text) => text.includes("repeated")) ? "..." : ""
  const isOptional = texts.some((text) => text.includes("optional") || text.includes("zero or more"))
  return isOptional ? `[${bare.replace(/^<|>$/g, "")}${dots}]` : `${bare}${dots}`
}

interface Said {
  readonly name: string
  readonly texts: ReadonlyArray<string>
}

/** What stands under each headline. */
const sections = (doc: HelpDoc.HelpDoc): ReadonlyMap<string, ReadonlyArray<Said>> => {
  const found = new Map<string, Array<Said>>()
  let current: Array<Said> = []
  const read = (doc: HelpDoc.HelpDoc): void => {
    switch (doc._tag) {
      case "Sequence":
        read(doc.left)
        read(doc.right)
        return
      case "Header":
        current = []
        found.set(textOf(doc.value), current)
        return
      case "DescriptionList":
        for (const [name, text] of doc.definitions) current.push({ name: textOf(name), texts: paragraphs(text) })
        return
      case "Enumeration":
        for (const element of doc.elements) current.push({ name: paragraphs(element).join(" "), texts: [] })
        return
      case "Paragraph":
        current.push({ name: "", texts: [textOf(doc.value)] })
        return
      case "Empty":
        return
    }
  }
  read(doc)
  return found
}

const paragraphs = (doc: HelpDoc.HelpDoc): ReadonlyArray<string> =>
  doc._tag === "Sequence"
    ? [...paragraphs(doc.left), ...paragraphs(doc.right)]
    : doc._tag === "Paragraph"
      ? [textOf(doc.value)]
      : []

const textOf = (span: Span): string => {
  switch (span._tag) {
    case "Sequence":
      return textOf(span.left) + textOf(span.right)
    case "Text":
      return span.value
    case "URI":
      return span.value
    default:
      return textOf(span.value)
  }
}

/** How the command is called. */
const usageOf = ({ arguments: args, commands, options, path }: Help): string =>
  [
    ...path,
    ...(commands.length > 0 ? ["<command>"] : []),
    ...args.map(({ name }) => name),
    ...(options.length > 0 ? ["[options]"] : [])
  ].join(" ")

// -----------------------------------------------------------------------------
// on a terminal
// -----------------------------------------------------------------------------

/** What all commands understand. */
const everywhere: ReadonlyArray<Item> = [
  { name: "--help, -h", text: "Shows this." },
  { name: "--debug", text: "Shows where a failure came from." }
]

/** The help as a text, for a sheet. */
export const helpText = (help: Help, sheet: Pick<Sheet, "colours" | "columns">): string => {
  const options = [...help.options, ...everywhere]
  const all = [...help.arguments, ...options, ...help.commands]
  const widest = Math.min(30, Math.max(...all.map(({ name }) => name.length)))
  const columns = Math.min(100, sheet.columns())
  const list = (title: string, items: ReadonlyArray<Item>) =>
    items.length === 0
      ? []
      : ["", paint(sheet, "bold", title), ...items.flatMap((item) => itemLines(item, widest, columns))]
  return [
    ...wrapped(help.description, columns),
    "",
    ...wrapped(`Usage: ${usageOf(help)}`, columns),
    ...list("Commands", help.commands),
    ...list("Arguments", help.arguments),
    ...list("Options", options),
    ""
  ].join("\n")
}

/** Beside each other where there is room, else one below the other. */
const itemLines = ({ name, text }: Item, widest: number, columns: number): ReadonlyArray<string> => {
  const indent = widest + 4
  if (columns < indent + 20) return [`  ${name}`, ...wrapped(text, columns - 4).map((line) => `    ${line}`)]
  const lines = wrapped(text, columns - indent).map((line) => " ".repeat(indent) + line)
  const [first = "", ...rest] = lines
  return name.length > widest ? [`  ${name}`, ...lines] : [`  ${name.padEnd(widest)}  ${first.trimStart()}`, ...rest]
}

const wrapped = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

// -----------------------------------------------------------------------------
// in the documents
// -----------------------------------------------------------------------------

/** All commands below one, as markdown. */
export const markdown = (command: Command, path: ReadonlyArray<string>): string => {
  const help = helpOf(command, path)
  const list = (items: ReadonlyArray<Item>) => items.map(({ name, text }) => `- \`${name}\`: ${text}`)
  const inner = commandsOf(command)
  const own =
    path.length > 1
      ? [`### \`${usageOf(help)}\``, "", help.description, "", ...list([...help.arguments, ...help.options]), ""]
      : []
  return [...own, ...inner.map(([name, child]) => markdown(child, [...path, name]))].join("\n")
}
