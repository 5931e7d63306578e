import { describe, expect, it } from "@effect/vitest"
import { Conversations } from "@heddle/memory"
import { Effect, Layer } from "effect"
import { behave, happenings } from "./calls.ts"

describe("calls over agents, modes, sessions, tenants and restarts", () => {
  it.effect.prop(
    "behave as the reference says, with conversations in memory",
    [happenings],
    ([happenings]) =>
      Effect.gen(function* () {
        // What is in memory is there for as long as the program runs.
        const store = yield* Layer.build(Conversations.layerMemory())
        yield* behave(happenings, Layer.succeedContext(store), (found, wanted) => expect(found).toEqual(wanted))
      }).pipe(Effect.scoped),
    { fastCheck: { numRuns: 100 } }
  )
})
