import { describe, expect, it } from "@effect/vitest"
import { Agent, Instructions, Message, Pipeline } from "@heddle/core"
import { Conversations, Memory, MemoryData, Session, Summaries } from "@heddle/memory"
import { DocumentIndex, LexicalIndex, Rag, RagData } from "@heddle/rag"
import { ScriptedModel } from "@heddle/testing"
import { HistoryStore, Workflow } from "@heddle/workflow"
import { WorkflowDefinition } from "@heddle/workflow/definition"
import { Effect, Layer } from "effect"

const writer = Agent.make({ name: "writer", handlers: Pipeline.make(Memory.handler(), Rag.handler()) })

const registry = {
  agents: { writer },
  agentOptions: [MemoryData.callOptions, RagData.callOptions]
} satisfies WorkflowDefinition.Registry

const definition = (options: object) => ({
  name: "article",
  node: { type: "agent", name: "draft", agent: "writer", options }
})

describe("what a step says of memory and retrieval", () => {
  it.effect("holds for its run of the agent", () =>
    Effect.gen(function* () {
      const index = yield* DocumentIndex.DocumentIndex
      yield* index.put(
        DocumentIndex.collection("docs"),
        ["docs/a.md", "docs/b.md", "news/a.md"].map((source) => ({
          source,
          hash: "1",
          chunks: [{ id: source, text: "The museum opens at nine.", context: "", metadata: {} }]
        }))
      )
      const model = yield* ScriptedModel.make(() => "At nine.")
      const run = (options: object) =>
        Effect.gen(function* () {
          const workflow = yield* WorkflowDefinition.compile(definition(options), registry)
          yield* Workflow.run(workflow, "When does the museum open?", { sessionId: "s" })
          return (yield* model.requests).at(-1)!
        }).pipe(Effect.provide(model.layer))
      const quoted = (request: { readonly instructions: Instructions.Instructions }) =>
        Array.from(Instructions.render(request.instructions).matchAll(/source="([^"]*)"/g), ([, source]) => source)

      const plain = yield* run({})
      expect(quoted(plain)).toEqual(["docs/a.md", "docs/b.md", "news/a.md"])
      expect(quoted(yield* run({ rag: { topK: 1 }, ragFilter: { sources: ["news/*"] } }))).toEqual(["news/a.md"])
      expect(quoted(yield* run({ rag: { mode: "none" } }))).toEqual([])

      // Of what was said before, a step with a window of none sees nothing.
      const texts = ({ history }: { readonly history: ReadonlyArray<Message.Message> }) => history.map(Message.text)
      expect(texts(yield* run({})).length).toBeGreaterThan(1)
      const own = { contextMode: "isolated", contextWindow: 0 }
      expect(texts(yield* run(own))).toEqual(["When does the museum open?"])
    }).pipe(
      Session.within("ada"),
      Effect.provide(
        Layer.mergeAll(LexicalIndex.layer, Conversations.layerMemory(), Summaries.layerNone, HistoryStore.layerMemory())
      )
    )
  )

  it.effect("is refused with all that is wrong with it, under the step", () =>
    Effect.gen(function* () {
      const wrong = definition({ contextMode: "all", rag: { topK: -1 }, ragFilter: { sources: [""] } })
      const { message } = yield* Effect.flip(WorkflowDefinition.compile(wrong, registry))
      expect(message.split("\n").slice(1).toSorted()).toEqual([
        expect.stringContaining("node.options: contextMode: expected one of"),
        "- node.options: rag.topK: expected a whole number from 0",
        "- node.options: ragFilter.sources[0]: expected a glob"
      ])
    })
  )
})
