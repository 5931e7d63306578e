/**
 * Keys of conversations: as one text, in their order, and in pages.
 */
import { countBefore } from "@heddle/core/store"
import type { ConversationInfo, ConversationKey, ConversationPage, ListOptions } from "../../Conversations.ts"

/** A text that no other key has. */
export const keyText = ({ agent = "", session, tenant }: ConversationKey): string =>
  // An agent's name is not empty, so without one there is nothing at the end.
  `${tenant.length}:${session.length}:${tenant}${session}${agent}`

/** The order of keys: by tenant, session and agent, the main conversation first; by code unit. */
export const compareKeys = (a: ConversationKey, b: ConversationKey): number =>
  compare(a.tenant, b.tenant) || compare(a.session, b.session) || compare(a.agent ?? "", b.agent ?? "")

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** Those of a page, of keys that are in order; and how to go on, if there are more. `options` names the tenant. */
export const pageOf = (
  keys: ReadonlyArray<ConversationKey>,
  { after, limit, session, tenant = "" }: ListOptions
): { readonly keys: ReadonlyArray<ConversationKey>; readonly next?: NonNullable<ConversationPage["next"]> } => {
  const begin = countBefore(keys, (key) => (compare(key.tenant, tenant) || compare(key.session, session ?? "")) >= 0)
  const from =
    after === undefined
      ? begin
      : Math.max(
          begin,
          countBefore(keys, (key) => compareKeys(key, { tenant, ...after }) > 0)
        )
  const end = countBefore(
    keys,
    (key) => (compare(key.tenant, tenant) || (session === undefined ? 0 : compare(key.session, session))) > 0
  )
  const found = keys.slice(from, Math.min(end, from + limit))
  const last = found.at(-1)
  if (last === undefined || from + found.length >= end) return { keys: found }
  return { keys: found, next: placeOf(last) }
}

/** A page of what is known of conversations. */
export const infoPage = (
  { keys, next }: ReturnType<typeof pageOf>,
  info: (key: ConversationKey) => ConversationInfo
): ConversationPage => ({ conversations: keys.map(info), ...(next !== undefined && { next }) })

const placeOf = ({ agent, session }: ConversationKey): NonNullable<ConversationPage["next"]> =>
  agent === undefined ? { session } : { session, agent }
