/** `heddle sessions`: what is kept of the conversations and runs of this project. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CliOptions from "@effect/cli/Options"
import { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import { Tenant } from "@heddle/core"
import { unknownName } from "@heddle/core/names"
import { Conversations } from "@heddle/memory"
import { HistoryStore } from "@heddle/workflow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { confirmed } from "../Asking.ts"
import { CliError, failed, usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { amount } from "../problems.ts"
import { Project } from "../Project.ts"
import { fleeting, stored, type Stores } from "../services.ts"
import { exchanges, find, type Found, headOf, sessions as all } from "../sessions/find.ts"
import {
  conversationMarkdown,
  exchangeLines,
  exchangeMarkdown,
  heading,
  runLines,
  runMarkdown,
  titleOf,
  when
} from "../sessions/written.ts"
import { clean, jsonText, paint, short } from "../text.ts"
import { ofProject } from "../workflow/history.ts"
import { database, inProject, json } from "./common.ts"
import { grouping } from "../help.ts"

const session = Args.text({ name: "session" }).pipe(Args.withDescription("The name of the session."))
const agent = CliOptions.text("agent").pipe(
  CliOptions.withDescription("Shows the own conversation of this agent alone."),
  CliOptions.optional
)
const last = CliOptions.integer("last").pipe(
  CliOptions.withDescription("How many of the last exchanges of each conversation, and of the last runs, are shown."),
  CliOptions.withDefault(20)
)
const format = CliOptions.choice("format", ["markdown", "json"]).pipe(
  CliOptions.withDescription("What it is written as."),
  CliOptions.withDefault("markdown" as const)
)
const yes = CliOptions.boolean("yes").pipe(CliOptions.withDescription("Deletes without asking."))

/** Runs a command on what is kept. A file that is not there is not made for it. */
const withKept = <A, E extends { readonly message: string }, R>(
  given: { readonly db: Option.Option<string> },
  use: Effect.Effect<A, E, R>
) =>
  inProject(
    Effect.gen(function* () {
      const { database, root } = yield* Project
      const fs = yield* FileSystem
      const isThere = yield* Effect.orElseSucceed(fs.exists(database), () => true)
      const stores: Layer.Layer<Stores, CliError, FileSystem | Path> = isThere
        ? Layer.mapError(stored(database), (error) => failed(error.message, error))
        : fleeting
      return yield* use.pipe(
        Effect.updateService(HistoryStore.HistoryStore, ofProject(root)),
        Effect.mapError((error) => (error instanceof CliError ? error : failed(error.message, error))),
        Tenant.within(root),
        Effect.provide(stores)
      )
    }),
    given
  )

const jsonLine = (value: unknown): string => `${jsonText(value)}\n`

// -----------------------------------------------------------------------------
// list
// -----------------------------------------------------------------------------

const list = Command.make("list", { json, db: database }, (given) =>
  withKept(
    given,
    Effect.gen(function* () {
      const { err, out } = yield* Output
      const found = yield* all
      for (const { conversations, lastAt, runs, session } of found) {
        const exchanges = conversations.reduce((sum, info) => sum + info.exchanges, 0)
        const agents = conversations.flatMap(({ key }) => key.agent ?? [])
        if (given.json) {
          yield* out.write(jsonLine({ session, exchanges, agents, runs, lastAt: new Date(lastAt).toISOString() }))
          continue
        }
        const parts = [
          when(lastAt),
          ...(exchanges > 0 || runs === 0 ? [amount(exchanges, "exchange")] : []),
          ...(runs > 0 ? [amount(runs, "run")] : []),
          ...(agents.length > 0 ? [agents.map((name) => clean(name)).join(", ")] : [])
        ]
        const name = clean(session).replace(/\s/g, " ")
        const told = parts.join("  ")
        // Where there is no room beside the name, below it.
        const fits = !out.isTerminal || name.length + told.length + 2 <= out.columns()
        yield* out.write(
          fits
            ? `${paint(out, "bold", name)}  ${told}\n`
            : `${paint(out, "bold", name)}\n${parts.map((part) => `  ${part}\n`).join("")}`
        )
      }
      if (found.length === 0 && !given.json) {
        yield* err.write("There are no sessions in this project. `heddle chat` begins one.\n")
      }
    })
  )
).pipe(Command.withDescription("Lists the sessions of this project, the last one first."))

// -----------------------------------------------------------------------------
// show
// -----------------------------------------------------------------------------

/** The conversations that are asked for. */
const chosen = (found: Found, agent: string | undefined) => {
  if (agent === undefined) return Effect.succeed(found.conversations)
  const own = found.conversations.filter(({ key }) => key.agent === agent)
  const names = found.conversations.flatMap(({ key }) => key.agent ?? [])
  return own.length > 0 ? Effect.succeed(own) : Effect.fail(usage(unknownName("agent of the session", agent, names)))
}

const show = Command.make("show", { session, agent, last, json, db: database }, (given) =>
  withKept(
    given,
    Effect.gen(function* () {
      const { out } = yield* Output
      if (given.last < 0) return yield* usage("--last is a whole number from 0.")
      const found = yield* find(given.session)
      const agent = Option.getOrUndefined(given.agent)
      for (const info of yield* chosen(found, agent)) {
        const { summary } = yield* headOf(info.key)
        const from = Math.max(0, info.exchanges - given.last)
        const { agent } = info.key
        if (given.json) {
          yield* out.write(
            jsonLine({ _tag: "Conversation", agent, exchanges: info.exchanges, messages: info.messages, summary })
          )
        } else {
          const title = `${short(titleOf(info.key), 200)}, ${amount(info.exchanges, "exchange")}`
          yield* out.write(`${paint(out, "bold", title)}\n`)
          if (from > 0) yield* out.write(paint(out, "dim", `… the last ${given.last} of ${info.exchanges}\n`))
          if (summary !== undefined) {
            yield* out.write(`summary of the exchanges up to ${summary.through}: ${clean(summary.text)}\n`)
          }
        }
        yield* Stream.runForEach(exchanges(info.key, from), (exchange) =>
          out.write(
            given.json
              ? jsonLine({ _tag: "Exchange", agent, exchange })
              : `\n${exchangeLines(exchange, out).join("\n")}\n`
          )
        )
        if (!given.json) yield* out.write("\n")
      }
      if (agent !== undefined || given.last === 0) return
      for (const run of found.runs.slice(-given.last)) {
        yield* out.write(given.json ? jsonLine({ _tag: "Run", run }) : `${runLines(run, out).join("\n")}\n`)
      }
    })
  )
).pipe(Command.withDescription("Shows what was said and done in a session."))

// -----------------------------------------------------------------------------
// export
// -----------------------------------------------------------------------------

const exported = Command.make("export", { session, format, db: database }, (given) =>
  withKept(
    given,
    Effect.gen(function* () {
      const { out } = yield* Output
      const found = yield* find(given.session)
      const write = (text: string) => out.write(out.isTerminal ? clean(text) : text)
      if (given.format === "json") {
        const conversations = yield* Effect.forEach(found.conversations, ({ createdAt, key }) =>
          Effect.gen(function* () {
            const { summary } = yield* headOf(key)
            const kept = yield* Stream.runCollect(exchanges(key))
            return { agent: key.agent, createdAt, summary, exchanges: [...kept] }
          })
        )
        const { runs, session } = found
        return yield* write(`${jsonText({ session, conversations, runs }, 2)}\n`)
      }
      yield* write(`# ${heading(found.session)}\n\n`)
      for (const info of found.conversations) {
        const { summary } = yield* headOf(info.key)
        yield* write(conversationMarkdown(info, summary))
        yield* Stream.runForEach(exchanges(info.key), (exchange) => write(exchangeMarkdown(exchange)))
      }
      if (found.runs.length > 0) yield* write("## Runs of workflows\n\n")
      for (const run of found.runs) yield* write(runMarkdown(run))
    })
  )
).pipe(Command.withDescription("Writes all of a session to standard output, as markdown or as JSON."))

// -----------------------------------------------------------------------------
// delete
// -----------------------------------------------------------------------------

const remove = Command.make("delete", { session, yes, db: database }, (given) =>
  withKept(
    given,
    Effect.gen(function* () {
      const { err } = yield* Output
      const found = yield* find(given.session)
      const messages = found.conversations.reduce((sum, info) => sum + info.exchanges, 0)
      const name = short(found.session, 200)
      const what = `"${name}" with ${amount(messages, "exchange")} and ${amount(found.runs.length, "run")}`
      const isMeant =
        given.yes ||
        (yield* Effect.mapError(confirmed(`Delete the session ${what}?`), () =>
          usage("There is nobody to ask whether the session is to be deleted: say --yes to have it deleted.")
        ))
      if (!isMeant) return yield* err.write("Nothing was deleted.\n")
      const conversations = yield* Conversations.Conversations
      const history = yield* HistoryStore.HistoryStore
      for (const { key } of found.conversations) yield* conversations.remove(key)
      yield* history.remove(found.session)
      yield* err.write(`Deleted the session ${what}.\n`)
    })
  )
).pipe(Command.withDescription("Deletes a session, after asking."))

const commands = [list, show, exported, remove] as const

/** `heddle sessions` */
export const sessions = grouping(
  Command.make("sessions").pipe(
    Command.withDescription("Lists, shows, exports and deletes the sessions of this project."),
    Command.withSubcommands(commands)
  ),
  commands
)
