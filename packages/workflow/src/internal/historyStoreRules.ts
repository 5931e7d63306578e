/**
 * The rules that every store of runs keeps, as values: each is a check of the
 * store that it is given, which has to be empty. A rule uses 100 sessions, and
 * 100 runs of a session, at the most.
 */
import type { Rules } from "@heddle/testing"
import { dies, holds, hostile, json, numbers, same, shown, spoil } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { HistoryStore } from "../HistoryStore.ts"
import type { RunStatus } from "../RunRecord.ts"
import { HistoryUnavailable } from "../WorkflowErrors.ts"
import { all, appendAll, ended, everything, listed, pages, roundTrip, run, runIds } from "./historyStoreChecks.ts"

export { Violation } from "@heddle/testing/Rules"

/** A rule, and the check of it. Fails, or dies, if the store breaks the rule. */
export type Rule = Rules.Rule<HistoryStore>

/** The rules. */
export const rules: ReadonlyArray<Rule> = [
  {
    rule: "a run that was appended comes back as it was",
    check: Effect.forEach(all, (status) => roundTrip(ended("s", status, status)), { discard: true })
  },
  {
    rule: "runs come oldest first, in the order of appending",
    check: Effect.gen(function* () {
      const ids = numbers(20).map((n) => `r${(n * 7) % 20}`)
      // Neither the id nor the time of a run says where it stands.
      yield* appendAll(ids.map((id, n) => run("s", id, { startedAt: 1000 - n, endedAt: 2000 - (n % 3) })))
      yield* same("The runs", runIds(yield* everything("s")), ids)
    })
  },
  {
    rule: "last gives as many runs as are asked for, if there are as many",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      const ids = numbers(7).map((n) => `r${n}`)
      yield* appendAll(ids.map((id) => run("s", id)))
      for (const count of [0, 1, 2, 6, 7, 8, 1e9, Infinity]) {
        const wanted = ids.slice(Math.max(0, ids.length - count))
        yield* same(`The last ${count}`, runIds(yield* store.last("s", count, all)), wanted)
      }
    })
  },
  {
    rule: "only runs of the wanted statuses are counted",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      const runs = numbers(30).map((n) => ended("s", `r${n}`, n < 12 ? all[n % 3]! : "failed"))
      yield* appendAll(runs)
      for (const statuses of [[], ["completed"], ["cancelled", "completed"], ["failed"], all] as const) {
        for (const count of [1, 3, 8, Infinity]) {
          const fitting = runIds(runs.filter(({ status }) => (statuses as ReadonlyArray<RunStatus>).includes(status)))
          const wanted = fitting.slice(Math.max(0, fitting.length - count))
          const found = runIds(yield* store.last("s", count, statuses))
          yield* same(`The last ${count} of ${shown(statuses)}`, found, wanted)
        }
      }
    })
  },
  {
    rule: "a session has its own runs and no others",
    check: Effect.gen(function* () {
      const ids = ["a", "A", "a ", "b", "ab"]
      // In turns, and with the same run ids.
      yield* appendAll(numbers(5).flatMap((n) => ids.map((id) => run(id, `r${n}`, { input: `${n} of ${id}` }))))
      for (const id of ids) {
        const wanted = numbers(5).map((n) => `${n} of ${id}`)
        yield* same(
          `Session ${shown(id)}`,
          (yield* everything(id)).map(({ input }) => input),
          wanted
        )
      }
    })
  },
  {
    rule: "a session that is not known has no runs, and is not made by asking",
    check: Effect.gen(function* () {
      yield* same("The sessions of an empty store", yield* pages(5), [[]])
      yield* appendAll([run("known", "r")])
      yield* same("Session unknown", yield* everything("unknown"), [])
      yield* same("The sessions", yield* listed, ["known"])
    })
  },
  {
    rule: "an id is any text",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      yield* appendAll(hostile.map((id) => run(id, id)))
      yield* appendAll(hostile.map((id) => run("all", id)))
      for (const id of hostile) yield* same(`Session ${shown(id)}`, yield* everything(id), [run(id, id)])
      yield* same("The runs", runIds(yield* everything("all")), hostile)
      yield* same("The sessions", (yield* listed).toSorted(), [...hostile, "all"].toSorted())
      for (const id of hostile) yield* holds(`Session ${shown(id)} was not there to remove`, yield* store.remove(id))
      yield* same("What is left", yield* listed, ["all"])
    })
  },
  {
    rule: "a run id that the session has is refused, and its run stays",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      const runs = [run("s", "r1"), run("s", "r2"), run("other", "r1")]
      yield* appendAll(runs)
      for (const again of [runs[0]!, run("s", "r1", { input: "another" })]) {
        const error = yield* Effect.option(Effect.flip(store.append(again)))
        yield* holds("A second run of one id was not refused", Option.isSome(error))
        const known = Option.exists(error, (e) => e instanceof HistoryUnavailable && e.operation === "append")
        yield* holds("It was not refused with HistoryUnavailable, operation append", known)
      }
      yield* same("The session", yield* everything("s"), runs.slice(0, 2))
    })
  },
  {
    rule: "of runs with one id that are appended at the same time, one is kept, whole, and the others are refused",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      const runs = numbers(10).map((n) => run("s", "r", { input: `${n} `.repeat(100 + n) }))
      const exits = yield* Effect.forEach(runs, (run) => Effect.exit(store.append(run)), { concurrency: "unbounded" })
      const kept = runs.filter((_, n) => Exit.isSuccess(exits[n]!))
      yield* same("The runs that were not refused", kept.length, 1)
      yield* same("The session", yield* everything("s"), kept)
    })
  },
  {
    rule: "runs appended to a session at the same time are all kept, whole, in one order",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      const runs = numbers(100).map((n) => run("s", `r${n}`, { input: `${n} `.repeat(100 + n) }))
      yield* Effect.forEach(runs, (run) => store.append(run), { concurrency: "unbounded", discard: true })
      const found = yield* everything("s")
      const inOrder = found.toSorted((a, b) => Number(a.runId.slice(1)) - Number(b.runId.slice(1)))
      yield* same("The runs, sorted", inOrder, runs)
      const readers = yield* Effect.all(
        numbers(5).map(() => everything("s")),
        { concurrency: "unbounded" }
      )
      for (const reader of readers) yield* same("What another reader sees", runIds(reader), runIds(found))
      yield* same("The last ten", runIds(yield* store.last("s", 10, all)), runIds(found.slice(-10)))
    })
  },
  {
    rule: "runs appended to many sessions at the same time stay apart",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      const ids = numbers(50).map((n) => `s${n}`)
      const session = (id: string) => numbers(4).map((n) => run(id, `r${n}`, { input: `${n} of ${id}` }))
      yield* Effect.forEach(ids, (id) => Effect.forEach(session(id), (run) => store.append(run)), {
        concurrency: "unbounded",
        discard: true
      })
      for (const id of ids) yield* same(`Session ${id}`, yield* everything(id), session(id))
    })
  },
  {
    rule: "a session is removed once, with all of its runs, and can begin again",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      yield* appendAll([run("s", "r1"), run("s", "r2"), run("other", "r1")])
      yield* same("Removing an unknown session", yield* store.remove("unknown"), false)
      yield* same("Removing it", yield* store.remove("s"), true)
      yield* same("Removing it again", yield* store.remove("s"), false)
      yield* same("Its runs", yield* everything("s"), [])
      yield* same("The sessions", yield* listed, ["other"])
      yield* same("The other session", yield* everything("other"), [run("other", "r1")])
      const again = run("s", "r1", { input: "anew" })
      yield* appendAll([again])
      yield* same("The session after it began again", yield* everything("s"), [again])
    })
  },
  {
    rule: "pages have every session once, in the order of the ids",
    check: Effect.gen(function* () {
      const ids = numbers(23).flatMap((n) => [`s${n}`, `S${n}`])
      yield* appendAll(ids.map((id) => run(id, "r")))
      const wanted = ids.toSorted()
      for (const limit of [1, 2, 7, 23, 45, 46, 47, Infinity]) {
        const found = yield* pages(limit)
        yield* same(
          `The sessions in pages of ${limit}`,
          found.flat().map(({ sessionId }) => sessionId),
          wanted
        )
        const sizes = found.map((page) => page.length)
        const full = found.slice(1).map(() => limit)
        yield* same(`The sizes of pages of ${limit}`, sizes, [
          ...full,
          wanted.length - full.length * Math.min(limit, 46)
        ])
      }
    })
  },
  {
    rule: "a page goes on after a session that was removed in the meantime",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      yield* appendAll(["a", "b", "c", "d"].map((id) => run(id, "r")))
      const { next } = yield* store.sessions({ limit: 2 })
      yield* holds("The first page of two does not say how to go on", next !== undefined)
      yield* store.remove("b")
      const page = yield* store.sessions({ after: next!, limit: 2 })
      yield* same(
        "The second page",
        page.sessions.map(({ sessionId }) => sessionId),
        ["c", "d"]
      )
      yield* holds("The last page says how to go on", page.next === undefined)
    })
  },
  {
    rule: "a page says how many runs a session has, and when the last of them ended",
    check: Effect.gen(function* () {
      yield* appendAll(
        numbers(10).flatMap((n) =>
          numbers(n + 1).map((i) => ({ ...ended(`s${n}`, `r${i}`, all[i % 3]!), endedAt: 1000 * n + i }))
        )
      )
      const wanted = numbers(10).map((n) => ({ sessionId: `s${n}`, runs: n + 1, lastEndedAt: 1000 * n + n }))
      yield* same("The sessions", (yield* pages(4)).flat(), wanted)
    })
  },
  {
    rule: "a count or limit that makes no sense dies with a DefinitionError",
    check: Effect.gen(function* () {
      const store = yield* HistoryStore
      yield* appendAll([run("s", "r1"), run("s", "r2")])
      for (const count of [-1, 0.5, NaN, -Infinity]) {
        yield* dies(`last with a count of ${count}`, store.last("s", count, all))
      }
      for (const limit of [0, -1, 1.5, NaN, -Infinity]) {
        yield* dies(`sessions with a limit of ${limit}`, store.sessions({ limit }))
      }
    })
  },
  {
    rule: "texts of a megabyte are kept whole",
    check: roundTrip(run("s", "r", { input: "历史 abc ".repeat(130_000), output: { text: '"\\\n'.repeat(350_000) } }))
  },
  {
    rule: "all that JSON has is kept as it is",
    check: Effect.gen(function* () {
      for (const [n, value] of json.entries()) {
        const steps = [{ path: ["workflow", n, ""], status: "completed" as const, output: value }]
        yield* roundTrip(run("s", `r${n}`, { input: value, output: value, steps }))
      }
      yield* roundTrip(run("times", "r", { workflow: "", startedAt: -1, endedAt: 1_760_281_445_678.25, steps: [] }))
    })
  },
  {
    rule: "what a reader does to a run does not reach the store",
    check: Effect.gen(function* () {
      const wanted = () => run("s", "r", { input: { list: [1, { a: 2 }] } })
      yield* appendAll([wanted()])
      const found = yield* everything("s")
      yield* Effect.sync(() => spoil(found))
      yield* same("The session", yield* everything("s"), [wanted()])
      const page = yield* pages(5)
      yield* Effect.sync(() => spoil(page))
      yield* same("The sessions", yield* listed, ["s"])
    })
  },
  {
    rule: "what a writer does to a run after appending it does not reach the store",
    check: Effect.gen(function* () {
      const wanted = () => run("s", "r", { input: { list: [1, { a: 2 }] } })
      const mine = wanted()
      yield* appendAll([mine])
      yield* Effect.sync(() => spoil(mine))
      yield* same("The session", yield* everything("s"), [wanted()])
    })
  }
]
