/** The commands of a chat that are about what was said. */
import { Tenant } from "@heddle/core"
import { ContextMode, Conversations, MemorySettings, Summaries } from "@heddle/memory"
import * as Effect from "effect/Effect"
import { confirmed } from "../Asking.ts"
import { failed, usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { amount } from "../problems.ts"
import { exchangeLines } from "../sessions/written.ts"
import { clean, paint } from "../text.ts"
import type { Chat } from "./Chat.ts"
import { wordsOf } from "./said.ts"

/** The main conversation, or an agent's own. */
const keyOf = (chat: Chat, agent?: string) =>
  Effect.map(Tenant.Tenant, (tenant) =>
    agent === undefined ? Conversations.main(chat.session, tenant) : Conversations.own(chat.session, agent, tenant)
  )

const nameOf = (agent: string | undefined): string =>
  agent === undefined ? "the main conversation" : `the conversation of @${agent}`

/** `/clear` and `/agents clear`: asks first. */
export const clear = (chat: Chat, agent: string | undefined, options: string) =>
  Effect.gen(function* () {
    const { err } = yield* Output
    const store = yield* Conversations.Conversations
    const key = yield* keyOf(chat, agent)
    const { info } = yield* store.read(key, { last: 0 })
    const exchanges = info?.exchanges ?? 0
    if (exchanges === 0) return yield* err.write(`There is nothing in ${nameOf(agent)}.\n`)
    if (options !== "--yes") {
      const question = `Delete ${exchanges === 1 ? "the one exchange" : `all ${exchanges} exchanges`} of ${nameOf(agent)}?`
      const isMeant = yield* Effect.mapError(confirmed(question), ({ message }) =>
        usage(`${message} With --yes at its end, the command does not ask.`)
      )
      if (!isMeant) return yield* err.write("Nothing was deleted.\n")
    }
    yield* store.clear(key)
    yield* err.write(`Deleted: ${nameOf(agent)} begins anew.\n`)
  })

/** `/history [@agent] [n]` */
export const history = (chat: Chat, rest: string) =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    const words = wordsOf(rest)
    const agent = words.find((word) => word.startsWith("@"))?.slice(1)
    const count = words.find((word) => !word.startsWith("@")) ?? "10"
    if (words.length > 2 || !/^[1-9]\d{0,8}$/.test(count)) {
      return yield* usage("/history [@agent] [n]: n is a whole number from 1, 10 unless said.")
    }
    const store = yield* Conversations.Conversations
    const { exchanges, info } = yield* store.read(yield* keyOf(chat, agent), { last: Number(count) })
    if (exchanges.length === 0) return yield* err.write(`There is nothing in ${nameOf(agent)} yet.\n`)
    const hidden = (info?.exchanges ?? 0) - exchanges.length
    if (hidden > 0) yield* err.write(`${paint(err, "dim", `(${hidden} before)`)}\n`)
    for (const exchange of exchanges) yield* out.write(`${exchangeLines(exchange, out).join("\n")}\n`)
  })

/** Messages that have to be new in a summary that is asked for. */
const minGrowth = 4

/** `/summary`: the summary, which is written first where enough is new. */
export const summary = (chat: Chat) =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    const store = yield* Conversations.Conversations
    const summaries = yield* Summaries.Summaries
    const key = yield* keyOf(chat)
    const keep = yield* keptOf(chat)
    const { summaryMaxTokens } = MemorySettings.defaults
    // What could not be written is no reason to withhold the one that there is.
    const failure = yield* summaries
      .write({ key, keep, trigger: 1, minGrowth, maxTokens: summaryMaxTokens })
      .pipe(Effect.as(undefined), Effect.catchAll(Effect.succeed))
    const { info, summary } = yield* store.read(key, { last: 0 })
    if (summary !== undefined) {
      yield* out.write(`${clean(summary.text).trim()}\n`)
      const note = `(of the first ${summary.through} of ${amount(info?.exchanges ?? 0, "exchange")})`
      yield* err.write(`${paint(err, "dim", note)}\n`)
    }
    if (failure !== undefined) return yield* failed(failure.message, failure)
    if (summary === undefined) {
      yield* err.write(
        `There is no summary: ${nameOf(undefined)} has ${amount(info?.exchanges ?? 0, "exchange")}, and one is written when it has ${keep + minGrowth / 2}.\n`
      )
    }
  })

/**
 * The last exchanges that stay out of a summary: no agent that reads summaries is to
 * lose what it would else see as it was said.
 */
const keptOf = (chat: Chat) =>
  Effect.map(chat.roster.agents, ({ all }) => {
    const ofMode = ContextMode.summarized().window
    const ofSummarized = ofMode !== undefined && "exchanges" in ofMode ? ofMode.exchanges : 0
    return Math.max(
      2,
      ...[...all.values()].map(({ head, name }) =>
        head.memory?.strategy === "summary"
          ? (head.memory.historyLimit ?? MemorySettings.defaults.historyLimit)
          : (chat.modes.get(name) ?? head.contextMode) === "summarized"
            ? ofSummarized
            : 0
      )
    )
  })
