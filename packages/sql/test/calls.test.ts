import { describe, expect, it } from "@effect/vitest"
import { SqlConversations } from "@heddle/sql"
import { layer } from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import { behave, happenings, runs } from "../../memory/test/calls.ts"
import { file } from "./support/files.ts"

describe("calls one after the other, at once and inside of each other, over agents, modes, sessions, tenants and restarts", () => {
  it.effect.prop(
    "behave as the reference of the memory says, with conversations in a file that is opened anew",
    [happenings],
    ([happenings]) =>
      Effect.gen(function* () {
        const open = Layer.provide(SqlConversations.layer, layer({ filename: yield* file }))
        yield* behave(happenings, open, (found, wanted) => expect(found).toEqual(wanted))
      }).pipe(Effect.scoped),
    runs(25)
  )
})
