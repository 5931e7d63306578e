/** The sessions of a project: what is kept of conversations, and of runs of workflows. */
import { unknownName } from "@heddle/core/names"
import { Tenant } from "@heddle/core"
import { Conversations } from "@heddle/memory"
import { HistoryStore, type RunRecord } from "@heddle/workflow"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { usage } from "../failure.ts"
import { sentence } from "../text.ts"

/** A session. */
export interface SessionInfo {
  readonly session: string
  /** The main conversation first, then those of agents. */
  readonly conversations: ReadonlyArray<Conversations.ConversationInfo>
  /** How many runs of workflows are kept. */
  readonly runs: number
  /** When something of it was read or changed last, in milliseconds since the epoch. */
  readonly lastAt: number
}

/** Sessions, or conversations, that are asked for at once. */
const page = 200

/** All conversations of the project, or of one of its sessions. */
export const conversationsOf = (session?: string) =>
  Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    const tenant = yield* Tenant.Tenant
    const all: Array<Conversations.ConversationInfo> = []
    let after: Conversations.ConversationPage["next"]
    do {
      const found: Conversations.ConversationPage = yield* store.list({
        tenant,
        limit: page,
        ...(session !== undefined && { session }),
        ...(after !== undefined && { after })
      })
      all.push(...found.conversations)
      after = found.next
    } while (after !== undefined)
    return all
  })

const sessionsWithRuns = Effect.gen(function* () {
  const store = yield* HistoryStore.HistoryStore
  const all: Array<HistoryStore.SessionInfo> = []
  let after: string | undefined
  do {
    const found: HistoryStore.SessionPage = yield* store.sessions({
      limit: page,
      ...(after !== undefined && { after })
    })
    all.push(...found.sessions)
    after = found.next
  } while (after !== undefined)
  return all
})

/** All sessions of the project, the one that was used last first. */
export const sessions = Effect.gen(function* () {
  const found = new Map<string, SessionInfo>()
  const of = (session: string) => found.get(session) ?? { session, conversations: [], runs: 0, lastAt: 0 }
  for (const info of yield* conversationsOf()) {
    const { conversations, lastAt, ...rest } = of(info.key.session)
    found.set(info.key.session, {
      ...rest,
      conversations: [...conversations, info],
      lastAt: Math.max(lastAt, info.lastAccessedAt)
    })
  }
  for (const { lastEndedAt, runs, sessionId } of yield* sessionsWithRuns) {
    const { lastAt, ...rest } = of(sessionId)
    found.set(sessionId, { ...rest, runs, lastAt: Math.max(lastAt, lastEndedAt) })
  }
  return [...found.values()].toSorted((a, b) => b.lastAt - a.lastAt)
})

/** A session with its runs. Fails with the names that are nearest if there is none. */
export const find = (session: string) =>
  Effect.gen(function* () {
    const history = yield* HistoryStore.HistoryStore
    const conversations = session === "" ? [] : yield* conversationsOf(session)
    const runs = session === "" ? [] : yield* history.last(session, Infinity, statuses)
    if (conversations.length === 0 && runs.length === 0) {
      const names = (yield* sessions).map(({ session }) => session)
      return yield* usage(`${sentence(unknownName("session", session, names))} \`heddle sessions list\` lists them.`)
    }
    return { session, conversations, runs }
  })

const statuses: ReadonlyArray<RunRecord.RunStatus> = ["completed", "failed", "cancelled"]

/** What is known of one session. */
export type Found = Effect.Effect.Success<ReturnType<typeof find>>

/** A conversation without its exchanges. */
export const headOf = (key: Conversations.ConversationKey) =>
  Effect.flatMap(Conversations.Conversations, (store) => store.read(key, { last: 0 }))

/** Exchanges that are read at once. */
const pageOfExchanges = 100

/** The exchanges of a conversation, oldest first, from behind a position on. They are read as they are wanted. */
export const exchanges = (key: Conversations.ConversationKey, after = 0) =>
  Stream.unwrap(
    Effect.map(Conversations.Conversations, (store) =>
      Stream.paginateChunkEffect(after, (after) =>
        Effect.map(store.read(key, { first: pageOfExchanges, after }), ({ exchanges }) => {
          const last = exchanges.length < pageOfExchanges ? undefined : exchanges.at(-1)
          return [Chunk.fromIterable(exchanges), Option.fromNullable(last?.position)] as const
        })
      )
    )
  )
