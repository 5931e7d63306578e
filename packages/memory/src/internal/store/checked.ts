/**
 * What a store may rely on: arguments that make sense, and calls of tools with
 * outcomes.
 */
import { Errors, History, Tenant } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Effect from "effect/Effect"
import type { ConversationKey, ListOptions, NewExchange, Range, Service } from "../../Conversations.ts"

/**
 * A store that never gets to see what makes no sense: the effect dies with a
 * `DefinitionError` before. Keys have no other fields, ranges and limits are whole,
 * calls without an outcome are cancelled, and `list` is told the tenant. Only
 * `checkThrough` is left to the store, since it needs to know the conversation.
 */
export const checked = (store: Service): Service => ({
  read: (key, range) =>
    Effect.suspend(() => {
      const known = checkedKey(key)
      placesOf(range, 0)
      return store.read(known, range)
    }),
  append: (key, exchange) => Effect.suspend(() => store.append(checkedKey(key), checkedExchange(exchange))),
  replace: (key, exchanges, expected) =>
    Effect.suspend(() => store.replace(checkedKey(key), exchanges.map(checkedExchange), expected)),
  summarize: (key, summary, expected) =>
    Effect.suspend(() => {
      const known = checkedKey(key)
      checkThrough(summary.through, Infinity)
      return store.summarize(known, summary, expected)
    }),
  clear: (key) => Effect.suspend(() => store.clear(checkedKey(key))),
  remove: (key) => Effect.suspend(() => store.remove(checkedKey(key))),
  list: (options) => Effect.suspend(() => store.list(checkedList(options)))
})

/** Throws a `DefinitionError` if a summary does not end with one of so many exchanges. */
export const checkThrough = (through: number, exchanges: number): void => {
  if (Number.isInteger(through) && through >= 1 && through <= exchanges) return
  const most = exchanges === Infinity ? "up" : `to ${exchanges}`
  throw new Errors.DefinitionError(`through is the position of an exchange, from 1 ${most}, but is ${through}.`)
}

/** The positions that a range has, of so many exchanges: those greater than `after`, up to `through`. None if both are the same. */
export const placesOf = (
  range: Range | undefined,
  exchanges: number
): { readonly after: number; readonly through: number } => {
  if (range === undefined) return { after: 0, through: exchanges }
  if ("first" in range) {
    const after = Math.min(exchanges, whole("after", range.after ?? 0, 0))
    return { after, through: Math.min(exchanges, after + whole("first", range.first, 0)) }
  }
  const through = Math.min(exchanges, Math.max(0, whole("before", range.before ?? Infinity, 0) - 1))
  return { after: Math.max(0, through - whole("last", range.last, 0)), through }
}

const checkedKey = ({ agent, session, tenant }: ConversationKey): ConversationKey => {
  text("tenant", tenant)
  text("session", session)
  return agent === undefined ? { tenant, session } : { tenant, session, agent: text("agent", agent) }
}

const checkedExchange = ({ agent, messages }: NewExchange): NewExchange => {
  if (!History.isHistory(messages) || messages.length === 0) {
    throw new Errors.DefinitionError("An exchange has one message at least.")
  }
  return { agent: text("agent", agent), messages: History.settle(messages) }
}

const checkedList = ({ after, limit, session, tenant = Tenant.defaultTenant }: ListOptions): ListOptions => ({
  tenant: text("tenant", tenant),
  ...(session !== undefined && { session: text("session", session) }),
  ...(after !== undefined && { after: checkedPlace(after) }),
  limit: whole("limit", limit, 1)
})

const checkedPlace = ({ agent, session }: Pick<ConversationKey, "session" | "agent">) => {
  const place = { session: text("session", session) }
  return agent === undefined ? place : { ...place, agent: text("agent", agent) }
}

const text = (name: string, value: string): string => {
  if (typeof value === "string" && value !== "") return value
  throw new Errors.DefinitionError(`${name} is a text that is not empty, but is ${JSON.stringify(value) ?? "missing"}.`)
}
