/**
 * Asks the person before a tool changes anything. It stands innermost, so that what
 * was approved is what runs.
 */
import { Call, Handler, Message, type Tool } from "@heddle/core"
import * as Effect from "effect/Effect"
import { Asking } from "../Asking.ts"
import { clean, short } from "../text.ts"
import { anyOf } from "./globs.ts"
import { unhurried } from "./timeLimit.ts"

/** What was approved, for as long as a command runs. */
export interface Approvals {
  /** Whether a tool needs no question, by a rule. */
  readonly isAllowed: (tool: string) => boolean
  /** What the person has allowed for good, by agent and tool. */
  readonly always: Set<string>
  /** One question at a time: the next may be answered by an "always". */
  readonly turn: Effect.Semaphore
}

/** Approvals by rules: globs over the names of tools. */
export const approvals = (rules: ReadonlyArray<string>): Approvals => ({
  isAllowed: anyOf(rules),
  always: new Set(),
  turn: Effect.unsafeMakeSemaphore(1)
})

/** Characters that are shown of the beginning and of the end of an argument. How many there are is always said. */
const shown = { beginning: 400, end: 200 }
/** Lines, of each. */
const lines = 10
/** Arguments that are shown at length: of many, one line each. */
const few = 12

/** What stands between the beginning and the end of a text, or is there instead of many spaces: these could have the rest of a line look like a line of the question. */
const left = (what: string) => `…(${what})…`

/** Beginning and end of a text, so that nothing is hidden behind what is long. */
const ends = (text: string): string => {
  const beginning = text.slice(0, shown.beginning).split("\n").slice(0, lines).join("\n")
  const end = text.slice(-shown.end).split("\n").slice(-lines).join("\n")
  const isAll = text.length <= shown.beginning + shown.end && text.split("\n").length <= 2 * lines
  return isAll ? text : `${beginning}${left(`${text.length} characters`)}${end}`
}

const argument = (value: unknown): string => {
  const text = clean(typeof value === "string" ? value : (JSON.stringify(value) ?? "")).trimEnd()
  const cut = ends(text).replace(/[\p{Zs}\t]{20,}/gu, (spaces) => left(`${spaces.length} spaces`))
  return cut.includes("\n") ? `\n${cut.replace(/^/gm, "      | ")}` : cut
}

/** Names are of one line: with more, they could look like a question of their own. */
const named = (name: string): string => short(name, 60)

const question = (agent: string, { arguments: args, name }: Tool.ToolRequest): string => {
  const fields = typeof args === "object" && args !== null ? Object.entries(args) : [["", args] as const]
  const told = (value: unknown): string => (fields.length > few ? short(argument(value), 60) : argument(value))
  return [
    `${named(agent)} wants to use ${named(name)}, which changes things:`,
    ...fields.map(([field, value]) => `    ${named(field)}: ${told(value)}`),
    "Allow it? [y]es, [n]o, [a]lways: "
  ].join("\n")
}

const wayOut = (tool: string) =>
  `There is nobody to ask. The user can allow it beforehand with --allow ${tool}, or with "allow" in the user's own configuration.`

/** Asks until the answer is one. Nothing said is no. */
const asked = (asking: Asking["Type"], text: string): Effect.Effect<"yes" | "no" | "always" | "nobody"> =>
  Effect.flatMap(asking.ask(text), (line) => {
    const said = line.trim().toLowerCase()
    if (said === "y" || said === "yes") return Effect.succeed("yes" as const)
    if (said === "a" || said === "always") return Effect.succeed("always" as const)
    if (said === "" || said === "n" || said === "no") return Effect.succeed("no" as const)
    return asked(asking, "Please say yes, no or always: ")
  }).pipe(Effect.orElseSucceed(() => "nobody" as const))

/** The handler, for an agent. "Always" holds for this tool of this agent. */
export const approval = (
  agent: string,
  { always, isAllowed, turn }: Approvals
): Handler.Handler<never, never, Asking> =>
  Handler.make("approval", {
    wrapToolCall: (request, next) => {
      const { name, tool } = request
      if (tool?.annotations.destructive !== true || isAllowed(name)) return next(request)
      const key = `${agent}/${name}`
      const decided = Effect.gen(function* () {
        if (always.has(key)) return next(request)
        const answer = yield* asked(yield* Asking, question(agent, request))
        if (answer === "always") always.add(key)
        if (answer === "nobody") return Call.succeed(Message.denied(wayOut(name)))
        return answer === "no" ? Call.succeed(Message.denied("The user said no.")) : next(request)
      })
      return Call.unwrap(unhurried(turn.withPermits(1)(decided)))
    }
  })
