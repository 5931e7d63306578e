import { Memory, Conversations, ContextMode, Session, Summaries } from "@heddle/memory"
import { Laws } from "@heddle/testing/vitest"
import { Layer } from "effect"
import { describe } from "vitest"

const services = Layer.mergeAll(
  Conversations.layerMemory(),
  Summaries.layerNone,
  Layer.succeed(Session.Session, Session.make("s"))
)
// Runs of one session see what others have said in it: law 9 is not for them.
describe("the memory keeps the laws", () => {
  for (const mode of ["isolated", "shared", "hybrid", "summarized", "fork", ContextMode.selective(["*"])] as const) {
    describe(typeof mode === "string" ? mode : mode._tag, () =>
      Laws.handler(Memory.handler({ mode }), { layer: services, except: [9], runs: 20 })
    )
  }
})
