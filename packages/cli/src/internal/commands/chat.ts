/** `heddle chat`: a session with agents. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Agents from "../agents/Agents.ts"
import { assistant } from "../agents/assistant.ts"
import type { Chat } from "../chat/Chat.ts"
import * as History from "../chat/history.ts"
import { LineReader } from "../chat/Lines.ts"
import { loop } from "../chat/loop.ts"
import { roster } from "../chat/roster.ts"
import { keptOf, keptText, sessionOf } from "../chat/session.ts"
import { failed } from "../failure.ts"
import { Output } from "../Output.ts"
import { Project } from "../Project.ts"
import { running } from "../running.ts"
import { clean, paint } from "../text.ts"
import { allow, contextMode, database, inProject, model, session, sessionName } from "./common.ts"

const agent = Args.text({ name: "agent" }).pipe(
  Args.withDescription("The agent that answers what is said to nobody else."),
  Args.optional
)
const isLast = Options.boolean("continue").pipe(
  Options.withDescription("Goes on with the last session of the project.")
)

/** `heddle chat` */
export const chat = Command.make(
  "chat",
  { agent, session, continue: isLast, model, contextMode, allow, db: database },
  (given) =>
    inProject(
      running({ model: Option.getOrUndefined(given.model), allow: given.allow, keep: true }, (running) =>
        Effect.gen(function* () {
          const { config } = yield* Project
          const name = Option.getOrElse(given.agent, () => config.agent ?? assistant.name)
          const file = yield* Agents.find(running.agents, name)
          const kept = yield* sessionOf({ session: yield* sessionName(given.session), isLast: given.continue })
          const chat: Chat = {
            session: kept.session,
            agent: file.name,
            modes: new Map(Option.match(given.contextMode, { onNone: () => [], onSome: (mode) => [[name, mode]] })),
            roster: yield* roster(running)
          }
          const { open } = yield* LineReader
          const lines = yield* open(yield* History.open)
          const { err } = yield* Output
          if (kept.conversations.length > 0) {
            yield* err.write(clean(`Session ${JSON.stringify(kept.session)} goes on: ${keptText(kept)}.\n`))
          }
          if (lines.isTerminal) yield* err.write(`You talk to ${clean(name)}. /help says what else you can do.\n`)
          const ended = yield* Effect.exit(loop(chat, lines))
          if ((yield* keptOf(chat.session)).conversations.length > 0) {
            const words = ["chat", ...Option.toArray(given.agent), "--session", chat.session]
            const db = Option.match(given.db, { onNone: () => [], onSome: (file) => ["--db", file] })
            const command = ["heddle", ...words, ...db].map(shellWord).join(" ")
            yield* err.write(`${paint(err, "dim", "To go on:")} ${clean(command)}\n`)
          }
          const outcome = yield* ended
          // A person has seen what went wrong; a script has its exit status.
          if (!lines.isTerminal && outcome.failed > 0) {
            yield* failed(`${outcome.failed} of ${outcome.said} lines came to nothing.`)
          }
        }).pipe(Effect.scoped)
      ),
      given
    )
).pipe(
  Command.withDescription(
    "A session with agents: what is said is kept. @name addresses an agent, /help tells of the commands."
  )
)

/** A word as a shell takes it. */
const shellWord = (word: string): string => (/^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
