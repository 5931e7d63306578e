/**
 * For each rule of stores a store that breaks it, in a way that stores are broken
 * elsewhere. A rule that lets its twin pass says nothing.
 */
import { HistoryStore, RunRecord } from "@heddle/workflow"
import { HistoryStoreRules } from "@heddle/workflow/rules"
import { Effect, Exit, Layer } from "effect"
import { describe, expect, it } from "vitest"

type Service = HistoryStore.Service
type Break = (store: Service) => Partial<Service>

/** Reads what `change` makes of each run. */
const reading =
  (change: (run: RunRecord.RunRecord) => RunRecord.RunRecord): Break =>
  (store) => ({
    last: (...asked) => Effect.map(store.last(...asked), (runs) => runs.map(change))
  })

/** Values without those that `keep` refuses. */
const sieve = (value: unknown, keep: (value: unknown) => boolean): unknown =>
  JSON.parse(JSON.stringify(value), (_, value) => (keep(value) ? value : undefined))

const sameId = "of runs with one id that are appended at the same time, one is kept, whole, and the others are refused"

const twins: Record<string, readonly [what: string, twin: Break]> = {
  "a run that was appended comes back as it was": [
    "gives a run that failed an empty output",
    reading((run) => ({ output: null, ...run }))
  ],
  "runs come oldest first, in the order of appending": [
    "sorts by time",
    (store) => ({
      last: (...asked) => Effect.map(store.last(...asked), (runs) => runs.toSorted((a, b) => a.startedAt - b.startedAt))
    })
  ],
  "last gives as many runs as are asked for, if there are as many": [
    "takes none for all, as slice(-0) does",
    (store) => ({
      last: (id, count, statuses) => store.last(id, count === 0 ? Infinity : count, statuses)
    })
  ],
  "only runs of the wanted statuses are counted": [
    "chooses from the runs that it counted",
    (store) => ({
      last: (id, count, statuses) =>
        Effect.map(store.last(id, count, ["completed", "failed", "cancelled"]), (runs) =>
          runs.filter(({ status }) => statuses.includes(status))
        )
    })
  ],
  "a session has its own runs and no others": [
    "compares ids without the spaces at their ends, as some databases do",
    (store) => ({
      last: (id, count, statuses) =>
        Effect.gen(function* () {
          const { sessions } = yield* store.sessions({ limit: Infinity })
          const alike = sessions.filter(({ sessionId }) => sessionId.trimEnd() === id.trimEnd())
          const runs = yield* Effect.forEach(alike, ({ sessionId }) => store.last(sessionId, count, statuses))
          return runs.length === 0 ? yield* store.last(id, count, statuses) : runs.flat()
        })
    })
  ],
  "a session that is not known has no runs, and is not made by asking": [
    "lists a session that was only asked for",
    (store) => {
      const appended = new Set<string>()
      const asked = new Set<string>()
      return {
        append: (run) => Effect.tap(store.append(run), () => appended.add(run.sessionId)),
        last: (id, ...rest) => Effect.tap(store.last(id, ...rest), () => asked.add(id)),
        sessions: (page) =>
          Effect.map(store.sessions(page), (found) => {
            const empty = [...asked].filter((id) => !appended.has(id))
            const more = empty.map((sessionId) => ({ sessionId, runs: 0, lastEndedAt: 0 }))
            return { ...found, sessions: [...found.sessions, ...more] }
          })
      }
    }
  ],
  "an id is any text": [
    "keeps runs under the keys of an object",
    (store) => ({
      append: (run) => (run.sessionId in {} ? Effect.void : store.append(run))
    })
  ],
  "a run id that the session has is refused, and its run stays": [
    "passes over a run that it has",
    (store) => ({ append: (run) => Effect.ignore(store.append(run)) })
  ],
  [sameId]: [
    "looks for the id, waits and writes",
    (store) => ({
      append: (run) =>
        Effect.gen(function* () {
          const known = yield* store.last(run.sessionId, Infinity, ["completed", "failed", "cancelled"])
          yield* Effect.yieldNow()
          if (known.some(({ runId }) => runId === run.runId)) return yield* store.append(run)
          // One that is there by now is taken for one's own.
          yield* Effect.ignore(store.append(run))
        })
    })
  ],
  "runs appended to a session at the same time are all kept, whole, in one order": [
    "reads, waits and writes back, so that another's write is lost",
    (store) => {
      const writing = new Set<string>()
      return {
        append: (run) =>
          Effect.gen(function* () {
            const alone = !writing.has(run.sessionId)
            writing.add(run.sessionId)
            yield* Effect.yieldNow()
            writing.delete(run.sessionId)
            if (alone) yield* store.append(run)
          })
      }
    }
  ],
  "runs appended to many sessions at the same time stay apart": [
    "remembers which session it writes to in one place for all",
    (store) => {
      let current = ""
      return {
        append: (run) =>
          Effect.gen(function* () {
            current = run.sessionId
            yield* Effect.yieldNow()
            yield* store.append({ ...run, sessionId: current })
          })
      }
    }
  ],
  "a session is removed once, with all of its runs, and can begin again": [
    "says that it removed what was not there",
    (store) => ({ remove: (id) => Effect.as(store.remove(id), true) })
  ],
  "pages have every session once, in the order of the ids": [
    "gives one session too few on each page, so that the next leaves it out",
    (store) => ({
      sessions: (page) =>
        Effect.map(store.sessions(page), (found) =>
          found.next === undefined || page.limit < 7 ? found : { ...found, sessions: found.sessions.slice(1) }
        )
    })
  ],
  "a page goes on after a session that was removed in the meantime": [
    "looks for the session to go on after",
    (store) => ({
      sessions: ({ after, limit }) =>
        Effect.gen(function* () {
          const { sessions } = yield* Effect.zipRight(store.sessions({ limit }), store.sessions({ limit: Infinity }))
          const from = sessions.findIndex(({ sessionId }) => sessionId === after) + 1
          const found = sessions.slice(from, from + limit)
          return { sessions: found, ...(from + found.length < sessions.length && { next: found.at(-1)!.sessionId }) }
        })
    })
  ],
  "a page says how many runs a session has, and when the last of them ended": [
    "tells when the first run ended",
    (store) => {
      const first = new Map<string, number>()
      return {
        append: (run) => {
          if (!first.has(run.sessionId)) first.set(run.sessionId, run.endedAt)
          return store.append(run)
        },
        sessions: (page) =>
          Effect.map(store.sessions(page), (found) => ({
            ...found,
            sessions: found.sessions.map((info) => ({ ...info, lastEndedAt: first.get(info.sessionId)! }))
          }))
      }
    }
  ],
  "a count or limit that makes no sense dies with a DefinitionError": [
    "makes the best of it",
    (store) => ({ sessions: (page) => store.sessions({ ...page, limit: Math.ceil(Math.max(1, page.limit || 1)) }) })
  ],
  "texts of a megabyte are kept whole": [
    "has columns of 64 kB",
    reading((run) => (typeof run.input === "string" ? { ...run, input: run.input.slice(0, 65_536) } : run))
  ],
  "all that JSON has is kept as it is": [
    "leaves out what is null",
    reading((run) => sieve(run, (value) => value !== null) as RunRecord.RunRecord)
  ],
  "what a reader does to a run does not reach the store": [
    "gives every reader its own copy, which is the same",
    (store) => {
      const copies = new Map<string, RunRecord.RunRecord>()
      const copy = (run: RunRecord.RunRecord) => {
        const key = JSON.stringify([run.sessionId, run.runId])
        if (!copies.has(key)) copies.set(key, structuredClone(run))
        return copies.get(key)!
      }
      return {
        ...reading(copy)(store),
        remove: (id) =>
          Effect.zipRight(
            Effect.sync(() => copies.clear()),
            store.remove(id)
          )
      }
    }
  ],
  "what a writer does to a run after appending it does not reach the store": [
    "keeps the very object that it was given",
    (store) => {
      const given = new Map<string, RunRecord.RunRecord>()
      const key = (run: RunRecord.RunRecord) => JSON.stringify([run.sessionId, run.runId])
      return {
        append: (run) => {
          const place = key(run)
          return Effect.tap(store.append(run), () => given.set(place, run))
        },
        ...reading((run) => structuredClone(given.get(key(run))!))(store)
      }
    }
  ]
}

const layer = (twin: Break): Layer.Layer<HistoryStore.HistoryStore> =>
  Layer.effect(
    HistoryStore.HistoryStore,
    Effect.map(HistoryStore.HistoryStore, (store) => ({ ...store, ...twin(store) }))
  ).pipe(Layer.provide(HistoryStore.layerMemory()))

const broken = async (store: Layer.Layer<HistoryStore.HistoryStore>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const { check, rule } of HistoryStoreRules.rules) {
    if (Exit.isFailure(await Effect.runPromiseExit(Effect.provide(check, store)))) found.push(rule)
  }
  return found
}

/** Whoever breaks one of these breaks that one as well. */
const follows: Readonly<Record<string, string>> = {
  "a run id that the session has is refused, and its run stays": sameId,
  "runs appended to a session at the same time are all kept, whole, in one order": sameId
}

describe("a store is caught by the rule that it breaks, and by no other, if it", () => {
  it.each(Object.entries(twins).map(([rule, [what, twin]]) => [what, rule, twin] as const))(
    "%s",
    async (_, rule, twin) => {
      expect((await broken(layer(twin))).filter((other) => other !== follows[rule])).toEqual([rule])
    }
  )
})

it("rules have names of their own, and each has a twin", () => {
  expect(HistoryStoreRules.rules.map(({ rule }) => rule)).toEqual(Object.keys(twins))
})

it("a violation says what was found", async () => {
  const [, twin] = twins["a session is removed once, with all of its runs, and can begin again"]!
  const { check } = HistoryStoreRules.rules.find(({ rule }) => rule.startsWith("a session is removed once"))!
  await expect(Effect.runPromise(Effect.provide(check, layer(twin)))).rejects.toThrow(
    "Removing an unknown session: found true instead of false"
  )
})
