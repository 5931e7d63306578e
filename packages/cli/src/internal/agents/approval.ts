/**
 * Asks the person before a tool changes anything. It stands innermost, so that what
 * was approved is what runs.
 */
import { Call, Handler, Message, type Tool } from "@heddle/core"
import * as Effect from "effect/Effect"
import { Asking } from "../Asking.ts"
import { clean } from "../text.ts"
import { anyOf } from "./servers.ts"

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

/** Characters of an argument that are shown. How many there are is always said. */
const shown = 600

const argument = (value: unknown): string => {
  const text = clean(typeof value === "string" ? value : (JSON.stringify(value) ?? "")).trimEnd()
  const cut = text.length > shown ? `${text.slice(0, shown)}… (${text.length} characters)` : text
  return cut.includes("\n") ? `\n${cut.replace(/^/gm, "      | ")}` : cut
}

const question = (agent: string, { arguments: args, name }: Tool.ToolRequest): string => {
  const fields = typeof args === "object" && args !== null ? Object.entries(args) : [["", args] as const]
  return [
    `${clean(agent)} wants to use ${clean(name)}, which changes things:`,
    ...fields.map(([field, value]) => `    ${clean(field)}: ${argument(value)}`),
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
      return Call.unwrap(turn.withPermits(1)(decided))
    }
  })
