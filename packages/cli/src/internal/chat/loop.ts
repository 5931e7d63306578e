/**
 * A chat, line by line: what is said goes to an agent, a command is carried out, and
 * what goes wrong is told without ending the chat.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Asking } from "../Asking.ts"
import { CliError, messageOf, status } from "../failure.ts"
import { Output } from "../Output.ts"
import { screenOf } from "../show/Screen.ts"
import { clean, paint, short } from "../text.ts"
import { asking } from "./asking.ts"
import type { Chat } from "./Chat.ts"
import { runCommand } from "./commands.ts"
import { complete } from "./complete.ts"
import type { Lines, Read } from "./Lines.ts"
import { parse, promptOf } from "./said.ts"
import { say } from "./talk.ts"
import { turn } from "./turn.ts"

/** How long a second Ctrl-C is one, in milliseconds. */
const again = 2000

/** Goes on until the person leaves, or there are no more lines. Says how many were said, and how many of these came to nothing. */
export const loop = (chat: Chat, lines: Lines) =>
  Effect.gen(function* () {
    const output = yield* Output
    const screen = screenOf(output)
    const { err } = output
    const outcome = { said: 0, failed: 0 }
    let pressedAt = -Infinity
    while (true) {
      const read = yield* message(chat, lines)
      if (read._tag === "End") return outcome
      if (read._tag === "Interrupt") {
        const now = yield* Clock.currentTimeMillis
        if (read.line === "" && now - pressedAt <= again) return outcome
        pressedAt = now
        yield* err.write(`${paint(err, "dim", "Press Ctrl-C again to leave.")}\n`)
        continue
      }
      const said = parse(read.text)
      if (said._tag === "Nothing") continue
      outcome.said += 1
      const cancelled = yield* Deferred.make<void>()
      const ended = yield* turn(answer(chat, said), {
        cancel: Effect.raceFirst(lines.interrupted, Deferred.await(cancelled)),
        abandon: lines.interrupted
      }).pipe(
        Effect.provideService(
          Asking,
          asking({ lines, err, alone: screen.alone, cancel: Deferred.succeed(cancelled, undefined) })
        )
      )
      yield* screen.inTurn(screen.endLine)
      if (ended._tag === "Abandoned") return outcome
      if (ended._tag === "Cancelled") {
        outcome.failed += 1
        pressedAt = yield* Clock.currentTimeMillis
        yield* err.write(`${paint(err, "yellow", "Cancelled.")} ${paint(err, "dim", "Press Ctrl-C again to leave.")}\n`)
      } else if (Exit.isFailure(ended.exit)) {
        outcome.failed += 1
        yield* err.write(`${paint(err, "red", "Error:")} ${textOf(ended.exit.cause)}\n`)
      } else if (ended.exit.value === "leave") return outcome
    }
  })

const answer = (chat: Chat, said: Exclude<ReturnType<typeof parse>, { readonly _tag: "Nothing" }>) => {
  switch (said._tag) {
    case "Text":
      return say(chat, chat.agent, { text: said.text })
    case "To":
      return Effect.flatMap(promptOf(said.rest), (prompt) => say(chat, addressed(chat, said.agent), prompt))
    case "Command":
      return runCommand(chat, said.word, said.rest)
  }
}

/** `@name, text` and `@name: text` are said as well. */
const addressed = (chat: Chat, name: string): string =>
  /[,:]$/.test(name) && !chat.roster.names().includes(name) ? name.slice(0, -1) : name

/** An error in one line. What makes no sense as it was said may have several places. */
const textOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof CliError && error.status === status.usage
    ? clean(error.message)
    : short(messageOf(cause), 1000)
}

/** A message: a line, and all that follow while they end with a backslash. */
const message = (chat: Chat, lines: Lines): Effect.Effect<Read, CliError, Output> =>
  Effect.gen(function* () {
    const output = yield* Output
    const { alone } = screenOf(output)
    const complete_ = (line: string) => complete(line, chat.roster.names())
    const ask = (prompt: string, isFirst: boolean) =>
      alone(lines.read({ prompt: paint(output.err, "bold", prompt), ...(isFirst && { complete: complete_ }) }))
    let text = ""
    while (true) {
      const read = yield* ask(text === "" ? "> " : "… ", text === "")
      if (read._tag === "Interrupt") return { ...read, line: text + read.line }
      if (read._tag === "End") return text === "" ? read : { _tag: "Line", text }
      if (!read.text.endsWith("\\")) return { _tag: "Line", text: text + read.text }
      text += `${read.text.slice(0, -1)}\n`
    }
  })
