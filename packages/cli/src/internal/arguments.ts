/**
 * What is wrong with arguments that the library would say nothing of, or something
 * misleading: it takes an option that it does not know for a prompt.
 */
import { unknownName } from "@heddle/core/names"
import { sentence } from "./text.ts"
import type { Help } from "./help.ts"

/** What every command understands, and what the library does. */
const everywhere = ["--help", "-h", "--debug", "--version", "--completions", "--log-level", "--wizard"]

/** Arguments before a `--`, behind which everything is text. */
export const beforeDashes = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const dashes = args.indexOf("--")
  return dashes < 0 ? args : args.slice(0, dashes)
}

/** The first thing that is wrong. `rest`: what comes after the name of the command. */
export const wrongWith = (rest: ReadonlyArray<string>, help: Help): string | undefined => {
  const [first] = rest
  if (help.commands.length > 0) {
    const names = help.commands.map(({ name }) => name)
    if (first === undefined) return `${help.path.join(" ")} needs a command: ${names.join(", ")}`
    if (!first.startsWith("-")) return unknownName("command", first, names)
  }
  const takesValue = new Map(
    help.options.flatMap(({ name }) =>
      (name.match(/--?[a-zA-Z][\w-]*/g) ?? []).map((one) => [one, / /.test(name.replace(/, /g, ","))])
    )
  )
  const known = [...takesValue.keys(), ...everywhere]
  const given = beforeDashes(rest)
  for (let i = 0; i < given.length; i++) {
    // A dash before a blank or a digit begins a text.
    const option = /^--?[a-zA-Z][^\s=]*/.exec(given[i]!)?.[0]
    if (option === undefined || /\s/.test(given[i]!.split("=")[0]!)) continue
    if (!known.includes(option)) {
      const there = known.filter((one) => takesValue.has(one))
      return `${sentence(unknownName("option", option, there))} A text that begins with a dash comes by standard input.`
    }
    if (takesValue.get(option) !== true || given[i]!.includes("=")) continue
    if (given[i + 1] === undefined) return `${option} needs a value`
    i++
  }
  return undefined
}
