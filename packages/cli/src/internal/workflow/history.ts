/**
 * The history of runs, for one project: others' sessions are not seen, and may have
 * the same names.
 */
import type { HistoryStore, RunRecord } from "@heddle/workflow"
import * as Effect from "effect/Effect"

/** The part of a store that belongs to a project. */
export const ofProject =
  (root: string) =>
  (store: HistoryStore.Service): HistoryStore.Service => {
    // JSON, since both may have any character in them. All sessions of a project begin alike.
    const start = `${JSON.stringify([root]).slice(0, -1)},`
    const keyOf = (session: string) => (session === "" ? "" : `${start}${JSON.stringify(session)}]`)
    const nameOf = (key: string) => String(JSON.parse(key.slice(start.length, -1)))
    const named = (record: RunRecord.RunRecord) => ({ ...record, sessionId: nameOf(record.sessionId) })
    return {
      append: (record) => store.append({ ...record, sessionId: keyOf(record.sessionId) }),
      last: (session, count, statuses) =>
        Effect.map(store.last(keyOf(session), count, statuses), (records) => records.map(named)),
      remove: (session) => store.remove(keyOf(session)),
      sessions: ({ after, limit }) =>
        Effect.map(store.sessions({ after: after === undefined ? start : keyOf(after), limit }), (page) => {
          const own = page.sessions.filter(({ sessionId }) => sessionId.startsWith(start))
          const sessions = own.map((info) => ({ ...info, sessionId: nameOf(info.sessionId) }))
          const more = page.next !== undefined && own.length === page.sessions.length
          return { sessions, ...(more && { next: sessions.at(-1)!.sessionId }) }
        })
    }
  }
