/**
 * The session of a chat: a new one, one of a name, or the last one.
 */
import type { Conversations } from "@heddle/memory"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { type CliError, failed, usage } from "../failure.ts"
import { amount } from "../problems.ts"
import { conversationsOf } from "../sessions/find.ts"

/** A session, and the conversations that are kept of it. */
export interface Kept {
  readonly session: string
  readonly conversations: ReadonlyArray<Conversations.ConversationInfo>
}

/** Which session is asked for. */
export interface Which {
  readonly session: string | undefined
  /** The one of the project that was read or added to last. */
  readonly isLast: boolean
}

/** The session that is asked for; a new one unless said. */
export const sessionOf = ({ isLast, session }: Which): Effect.Effect<Kept, CliError, Conversations.Conversations> =>
  Effect.gen(function* () {
    if (isLast && session !== undefined) {
      return yield* usage("--session and --continue each say which session it is: take one of them.")
    }
    const name = session ?? (isLast ? yield* last : yield* newName)
    return yield* keptOf(name)
  })

/** What is kept of a session. */
export const keptOf = (session: string): Effect.Effect<Kept, CliError, Conversations.Conversations> =>
  Effect.map(list(session), (all) => ({
    session,
    conversations: all.filter(({ exchanges }) => exchanges > 0)
  }))

/** A name that says when the chat began, and that no other chat has. */
const newName: Effect.Effect<string> = Effect.gen(function* () {
  const [day, time] = new Date(yield* Clock.currentTimeMillis).toISOString().split("T")
  const letters = yield* Effect.replicateEffect(Random.nextIntBetween(0, 32), 5)
  const rest = letters.map((letter) => letter.toString(32)).join("")
  return `chat-${day!.replaceAll("-", "")}-${time!.slice(0, 5).replace(":", "")}-${rest}`
})

/** The last session, of whatever command: a session does not say which began it. */
const last: Effect.Effect<string, CliError, Conversations.Conversations> = Effect.flatMap(list(), (all) => {
  const latest = all.reduce<Conversations.ConversationInfo | undefined>(
    (latest, info) => (latest === undefined || info.lastAccessedAt > latest.lastAccessedAt ? info : latest),
    undefined
  )
  return latest === undefined
    ? usage("There is no session in this project to go on with. `heddle chat` begins one.")
    : Effect.succeed(latest.key.session)
})

/** The conversations of the project, or of one of its sessions. */
function list(session?: string) {
  return Effect.mapError(conversationsOf(session), (error) => failed(error.message, error))
}

/** What there is of a session, in words: `2 exchanges, and 1 of @reviewer`. */
export const keptText = ({ conversations }: Kept): string =>
  conversations
    .map(({ exchanges, key: { agent } }) =>
      agent === undefined
        ? `${amount(exchanges, "exchange")} in the main conversation`
        : `${amount(exchanges, "exchange")} of @${agent}`
    )
    .join(", ")
