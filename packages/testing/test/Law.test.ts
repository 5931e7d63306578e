import { Call, ChatModel, Handler, Instructions, Message } from "@heddle/core"
import { Law } from "@heddle/testing"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"

class Tone extends Handler.Tag("Tone")<Tone>() {}

/** Replaces in each part on its own, so that it matters where the answer is cut. */
const perPart = (word: string): Handler.Hooks => ({
  wrapModelCall: (request, next) =>
    Call.map(next(request), (part) =>
      part._tag === "Text" ? { ...part, text: part.text.replaceAll(word, "*") } : part
    )
})

const rejection = (promise: Promise<void>): Promise<Law.Violation> =>
  promise.then(
    () => {
      throw new Error("The law holds.")
    },
    (error: unknown) => error as Law.Violation
  )

describe("checking a law", () => {
  it("resolves for a handler that keeps it", async () => {
    await expect(Law.check(Law.streamParity, Handler.instructions("Be brief."), { runs: 5 })).resolves.toBeUndefined()
  })

  it("rejects with number, name and a shrunken counterexample", async () => {
    const check = Law.check(Law.streamParity, Handler.make("perPart", perPart("two")), { runs: 200, seed: 7 })
    const violation = await rejection(check)
    expect(violation).toBeInstanceOf(Law.Violation)
    expect(violation.message).toContain("Law 11, stream parity: the fold of the stream equals the run")
    expect(violation.message).toMatch(/Counterexample: \[.*"two words".*\]/)
    expect(violation.message).toMatch(/Shrunk [1-9]\d* time/)
    // Shrunken to what matters: one turn, nothing said before.
    expect(violation.message).toMatch(/"history":\[\]/)
  })

  it("a seed repeats what it has found", async () => {
    const found = async () => {
      const check = Law.check(Law.streamParity, Handler.make("perPart", perPart("two")), { runs: 200, seed: 7 })
      return /Counterexample: .*/.exec((await rejection(check)).message)?.[0]
    }
    expect(await found()).toBe(await found())
  })

  it("checkWith builds what a handler needs by a layer", async () => {
    let built = 0
    const good = Layer.sync(Tone, () => {
      built++
      return { beforeModel: (history) => history }
    })
    await Law.checkWith(Law.identityLaw, Tone, good, { runs: 5 })
    expect(built).toBeGreaterThan(5)
    const bad = Layer.succeed(Tone, perPart("two"))
    await expect(Law.checkWith(Law.streamParity, Tone, bad, { runs: 200 })).rejects.toThrow("Law 11,")
  })

  it("every law has a number of its own and a name", () => {
    const numbers = Law.laws.map((law) => law.number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16])
    expect(Law.laws.every((law) => law.name !== "")).toBe(true)
  })

  it("a handler may finish itself, or make another answer of a result, and law 5 holds", async () => {
    const bye = Handler.finish("Bye.")
    const handlers: ReadonlyArray<Handler.Any> = [
      Handler.afterAgent(() => bye),
      Handler.wrapToolCall((request, next) => Call.tapValue(next(request), () => bye)),
      Handler.wrapAgent((run, next) => Call.gate(next(run), (result) => ({ ...result, text: "***" })))
    ]
    for (const handler of handlers) await Law.checkSubject(Law.position, Law.subject(handler), { runs: 50 })
  })

  it("a handler may make of all instructions what it likes, and law 16 holds", async () => {
    const changes: ReadonlyArray<Instructions.Change> = [
      () => Instructions.make("Speak like a pirate."),
      Instructions.replace("subject", "Speak like a pirate."),
      (instructions) => Instructions.fromSections(instructions.sections.slice(0, 1)),
      (instructions) => Instructions.make(Instructions.render(instructions).slice(0, 10)),
      Instructions.map((section) => ({ ...section, text: `# ${section.source}\n${section.text.toUpperCase()}` }))
    ]
    for (const change of changes) await Law.check(Law.scope, Handler.mapInstructions(change), { runs: 10 })
  })

  it("a handler that fails or answers in place of the model may keep the laws", async () => {
    const refusing = Handler.make("refusing", {
      wrapModelCall: () => ChatModel.reply("no"),
      wrapToolCall: () => Call.succeed(Message.denied("no")),
      beforeAgent: (run) => (run.history.length > 3 ? Effect.fail("too long") : run)
    })
    for (const law of [Law.identityLaw, Law.finalizer, Law.pairing]) await Law.check(law, refusing, { runs: 10 })
  })
})
