import { describe, expect, it } from "@effect/vitest"
import { Handler, History, Instructions, Pipeline, Tool, Tools } from "@heddle/core"
import { Arbitraries } from "@heddle/testing"
import { FastCheck, Schema } from "effect"

describe("what is generated is valid", () => {
  it.prop("instructions", [Arbitraries.instructions], ([instructions]) => {
    expect(Instructions.isInstructions(instructions)).toBe(true)
    expect(instructions.sections.every((section) => section.text !== "")).toBe(true)
  })

  it.prop("histories: paired, and readable by their schema", [Arbitraries.history], ([history]) => {
    expect(History.isHistory(history)).toBe(true)
    expect(History.isPaired(history)).toBe(true)
    expect(Schema.is(History.schema)(history)).toBe(true)
  })

  it.prop("tools, of different names", [Arbitraries.tools], ([tools]) => {
    expect(Tools.isTools(tools)).toBe(true)
    expect(Array.from(tools).every(Tool.isTool)).toBe(true)
    expect(new Set(tools.names).size).toBe(tools.size)
  })

  it.prop("handlers and pipelines", [Arbitraries.handler, Arbitraries.pipeline], ([handler, pipeline]) => {
    expect(Handler.isHandler(handler)).toBe(true)
    expect(Pipeline.isPipeline(pipeline)).toBe(true)
    expect(Pipeline.explain(pipeline)).not.toBe("")
  })
})

describe("what is generated is varied", () => {
  it("handlers of many kinds, and pipelines of many lengths", () => {
    const names = FastCheck.sample(Arbitraries.handler, { numRuns: 500, seed: 1 }).map(
      (handler) => Handler.definition(handler).name.split("-")[0]
    )
    expect(new Set(names).size).toBeGreaterThan(12)
    const lengths = FastCheck.sample(Arbitraries.pipeline, { numRuns: 200, seed: 1 }).map((p) => p.handlers.length)
    expect(new Set(lengths)).toEqual(new Set([0, 1, 2, 3, 4, 5]))
  })

  it("texts with what breaks naive code", () => {
    const texts = FastCheck.sample(Arbitraries.text, { numRuns: 300, seed: 1 }).join("\n")
    for (const odd of ["{{x}}", "\\frac", "\u200b", "\u200f", "__proto__"]) expect(texts).toContain(odd)
  })

  it("outcomes of every kind", () => {
    const tags = FastCheck.sample(Arbitraries.outcome, { numRuns: 100, seed: 1 }).map((outcome) => outcome._tag)
    expect(new Set(tags)).toEqual(new Set(["Succeeded", "Failed", "Denied", "Cancelled"]))
  })
})
