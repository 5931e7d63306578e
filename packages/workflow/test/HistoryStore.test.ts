import { describe, expect, it } from "@effect/vitest"
import { Errors } from "@heddle/core"
import { HistoryStore, type RunRecord } from "@heddle/workflow"
import { historyStore } from "@heddle/workflow/testing"
import { Effect, FastCheck } from "effect"

const { layerMemory } = HistoryStore
const store = HistoryStore.HistoryStore

const run = (sessionId: string, runId: string): RunRecord.RunRecord => ({
  runId,
  sessionId,
  workflow: "w",
  status: "completed",
  input: { of: [runId] },
  output: "out",
  startedAt: 0,
  endedAt: 1,
  steps: []
})

const append = (sessionId: string, runId: string) => Effect.flatMap(store, (s) => s.append(run(sessionId, runId)))
const runIds = (sessionId: string) =>
  Effect.flatMap(store, (s) =>
    Effect.map(s.last(sessionId, Infinity, ["completed"]), (runs) => runs.map((r) => r.runId))
  )
const sessionIds = Effect.flatMap(store, (s) =>
  Effect.map(s.sessions({ limit: Infinity }), ({ sessions }) => sessions.map(({ sessionId }) => sessionId))
)

historyStore("the store in memory keeps the rules", layerMemory())
historyStore("the store in memory keeps the rules within tight bounds", layerMemory({ maxSessions: 100, maxRuns: 100 }))
historyStore(
  "the store in memory keeps the rules without bounds",
  layerMemory({ maxSessions: Infinity, maxRuns: Infinity })
)

describe("bounds", () => {
  it.effect("of a session that is full, the oldest run is dropped, and its id is free again", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d"]) yield* append("s", id)
      expect(yield* runIds("s")).toEqual(["b", "c", "d"])
      yield* append("s", "a")
      expect(yield* runIds("s")).toEqual(["c", "d", "a"])
      expect((yield* Effect.flip(append("s", "a")))._tag).toBe("HistoryUnavailable")
      expect((yield* (yield* store).sessions({ limit: 1 })).sessions[0]!.runs).toBe(3)
    }).pipe(Effect.provide(layerMemory({ maxRuns: 3 })))
  )
  it.effect("the session that was not appended to for the longest time is dropped first", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c"]) yield* append(id, "1")
      yield* append("a", "2")
      // Reading does not count.
      yield* runIds("b")
      yield* append("d", "1")
      expect(yield* sessionIds).toEqual(["a", "c", "d"])
      yield* append("e", "1")
      expect(yield* sessionIds).toEqual(["a", "d", "e"])
      // A run that is refused does not either.
      yield* Effect.flip(append("a", "2"))
      yield* append("f", "1")
      expect(yield* sessionIds).toEqual(["d", "e", "f"])
      expect(yield* runIds("a")).toEqual([])
    }).pipe(Effect.provide(layerMemory({ maxSessions: 3 })))
  )
  it.effect("a store of one run keeps the last", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "b2", "a"]) yield* append(id, id)
      expect(yield* sessionIds).toEqual(["a"])
      expect(yield* runIds("a")).toEqual(["a"])
    }).pipe(Effect.provide(layerMemory({ maxSessions: 1, maxRuns: 1 })))
  )
  it.effect("unless said, there are 1,000 sessions of 100 runs", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 101; i++) yield* append("s", `${i}`)
      expect(yield* runIds("s")).toHaveLength(100)
      for (let i = 0; i < 1000; i++) yield* append(`${i}`, "r")
      expect(yield* sessionIds).toHaveLength(1000)
      expect(yield* sessionIds).not.toContain("s")
    }).pipe(Effect.provide(layerMemory()))
  )

  const bound = FastCheck.constantFrom(1, 2, 3, 5)
  const step = FastCheck.record({
    session: FastCheck.constantFrom("a", "b", "c", "d", "e", "__proto__"),
    run: FastCheck.constantFrom("1", "2", "3", "4", "5", "6", "7"),
    remove: FastCheck.constant(false)
  })
  const removal = FastCheck.record({
    session: FastCheck.constantFrom("a", "b", "c"),
    run: FastCheck.constant(""),
    remove: FastCheck.constant(true)
  })
  const steps = FastCheck.array(FastCheck.oneof({ arbitrary: step, weight: 6 }, { arbitrary: removal, weight: 1 }), {
    maxLength: 60
  })
  it.effect.prop("whatever is done, it is what a list of runs would be", [steps, bound, bound], ([steps, s, r]) =>
    Effect.gen(function* () {
      let model: ReadonlyArray<readonly [session: string, runs: ReadonlyArray<string>]> = []
      for (const { remove, run, session } of steps) {
        const known = model.find(([id]) => id === session)?.[1] ?? []
        const others = model.filter(([id]) => id !== session)
        if (remove) {
          expect(yield* (yield* store).remove(session)).toBe(others.length < model.length)
          model = others
        } else if (known.includes(run)) {
          yield* Effect.flip(append(session, run))
        } else {
          yield* append(session, run)
          model = [...others, [session, [...known, run].slice(-r)] as const].slice(-s)
        }
        expect(yield* sessionIds).toEqual(model.map(([id]) => id).toSorted())
        for (const [id, runs] of model) expect(yield* runIds(id)).toEqual(runs)
      }
    }).pipe(Effect.provide(layerMemory({ maxSessions: s, maxRuns: r })))
  )

  it.each([0, -1, 1.5, NaN, -Infinity])("%d is not one", (bad) => {
    expect(() => layerMemory({ maxSessions: bad })).toThrow(Errors.DefinitionError)
    expect(() => layerMemory({ maxRuns: bad })).toThrow(Errors.DefinitionError)
  })
})

it.effect("a second run of one id is refused with an error that says so", () =>
  Effect.gen(function* () {
    yield* append("ada", "r1")
    const error = yield* Effect.flip(append("ada", "r1"))
    expect(error).toMatchObject({ operation: "append", sessionId: "ada" })
    expect(error.cause).toBeInstanceOf(Error)
    expect(error.message).toContain('session "ada"')
    expect(error.message).toContain('has a run "r1" already')
  }).pipe(Effect.provide(layerMemory()))
)

it.effect("a run that nests too deep to be copied is refused, and the session is as it was", () =>
  Effect.gen(function* () {
    const circle: Array<unknown> = []
    circle.push(circle)
    const error = yield* Effect.flip((yield* store).append({ ...run("s", "r"), input: circle }))
    expect(error.operation).toBe("append")
    expect(yield* sessionIds).toEqual([])
  }).pipe(Effect.provide(layerMemory()))
)

it.effect("each time that the layer is built there is a new store", () =>
  Effect.gen(function* () {
    const layer = layerMemory()
    yield* Effect.provide(append("s", "r"), layer)
    expect(yield* Effect.provide(sessionIds, layer)).toEqual([])
  })
)
