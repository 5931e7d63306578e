import { describe, expect, it } from "@effect/vitest"
import { Agent, ChatModel, Message, Tool, Tools } from "@heddle/core"
import { Node, Workflow, type WorkflowEvent, WorkflowProgress } from "@heddle/workflow"
import { ScriptedModel } from "@heddle/testing"
import { Cause, Effect, Schema, Stream } from "effect"

type Event = WorkflowEvent.WorkflowEvent

const started = (path: WorkflowEvent.Path, kind: WorkflowEvent.NodeKind = "step"): Event => ({
  _tag: "NodeStarted",
  path,
  kind,
  input: undefined
})
const finished = (path: WorkflowEvent.Path): Event => ({ _tag: "NodeFinished", path, output: undefined })
const failed = (path: WorkflowEvent.Path, error: unknown): Event => ({
  _tag: "NodeFailed",
  path,
  error,
  cause: Cause.fail(error)
})

/** What is known after events that come 100 ms apart. */
const after = (...events: ReadonlyArray<Event>): WorkflowProgress.WorkflowProgress =>
  events.reduce((progress, event, i) => WorkflowProgress.update(progress, event, i * 100), WorkflowProgress.empty)

/** A line for each branch. */
const told = (progress: WorkflowProgress.WorkflowProgress): ReadonlyArray<string> =>
  progress.flatMap((branch) => [
    branch._tag === "Node"
      ? `${branch.path.join("/")} ${branch.status}${branch.note === "" ? "" : `: ${branch.note}`}`
      : `${branch.path.join("/")} ${branch._tag}`,
    ...told(branch.inside)
  ])

const folded = <Out, E, R>(events: Stream.Stream<WorkflowEvent.WorkflowEvent<Out>, E, R>) =>
  Stream.runFold(events, WorkflowProgress.empty, (progress, event) => WorkflowProgress.update(progress, event, 0))

describe("WorkflowProgress", () => {
  it("has nodes inside of each other, in the order in which they started, with their times", () => {
    const progress = after(
      started(["plan"]),
      finished(["plan"]),
      started(["draft"], "parallel"),
      started(["draft", "a"]),
      started(["draft", "b"]),
      failed(["draft", "a"], new Error("no ink")),
      { _tag: "NodeCancelled", path: ["draft", "b"] }
    )
    expect(told(progress)).toEqual(["plan done", "draft running", "draft/a failed: no ink", "draft/b cancelled"])
    expect(WorkflowProgress.at(progress, ["draft", "a"])).toMatchObject({ startedAt: 300, endedAt: 500 })
    expect(WorkflowProgress.at(progress, ["draft"])).not.toHaveProperty("endedAt")
  })

  it("numbers the rounds of a loop and the elements of an array, also of one in the other", () => {
    const progress = after(
      started(["loop"], "loop"),
      started(["loop", 1, "each"], "each"),
      started(["loop", 1, "each", 0, "x"]),
      started(["loop", 1, "each", 1, "x"]),
      started(["loop", 2, "each"], "each")
    )
    expect(told(progress)).toEqual([
      "loop running",
      "loop/1 Round",
      "loop/1/each running",
      "loop/1/each/0 Element",
      "loop/1/each/0/x running",
      "loop/1/each/1 Element",
      "loop/1/each/1/x running",
      "loop/2 Round",
      "loop/2/each running"
    ])
  })

  it("takes back what a retry takes back", () => {
    const error = new Error("oh")
    const progress = after(started(["a"], "sequence"), started(["a", "b"]), {
      _tag: "NodeRetrying",
      path: ["a"],
      attempt: 2,
      error
    })
    expect(told(progress)).toEqual(["a retrying: attempt 2 after: oh"])
  })

  it("says what was chosen, what was skipped and what has a fallback", () => {
    const progress = after(
      started(["a"], "condition"),
      { _tag: "Chosen", path: ["a"], choice: "true" },
      finished(["a"]),
      started(["b"]),
      { _tag: "NodeSkipped", path: ["b"], error: "oh" },
      finished(["b"]),
      started(["c"]),
      { _tag: "NodeFellBack", path: ["c"], error: "oh" }
    )
    expect(told(progress)).toEqual(["a done: → true", "b skipped: oh", "c running: fallback after: oh"])
  })

  it("nothing runs any more when the run is over", () => {
    const progress = after(started(["a"], "loop"), started(["a", 1, "b"]), { _tag: "Cancelled" })
    expect(told(progress)).toEqual(["a cancelled", "a/1 Round", "a/1/b cancelled"])
    expect(WorkflowProgress.at(progress, ["a", 1, "b"])).toMatchObject({ endedAt: 200 })
  })

  it("is the same value when an event changes nothing, and no value is changed", () => {
    const before = after(started(["a"], "agent"))
    const copy = structuredClone(before)
    const text: Event = { _tag: "Agent", path: ["a"], event: { _tag: "Text", step: 1, text: "Hi" } }
    expect(WorkflowProgress.update(before, text, 5)).toBe(before)
    expect(WorkflowProgress.update(before, { _tag: "RunStarted", workflow: "w", runId: "r" }, 5)).toBe(before)
    expect(WorkflowProgress.update(before, finished(["unknown", "path"]), 5)).toBe(before)
    WorkflowProgress.update(before, finished(["a"]), 5)
    WorkflowProgress.update(before, started(["a", "b"]), 5)
    expect(before).toEqual(copy)
  })

  it("what a step of an agent takes back is not among its calls of tools", () => {
    const call = { step: 1, id: "1", name: "search" }
    const begun: Event = { _tag: "Agent", path: ["a"], event: { _tag: "ToolStarted", ...call, arguments: {} } }
    const calls = (...more: ReadonlyArray<Event>) => {
      const branch = WorkflowProgress.at(after(started(["a"], "agent"), begun, ...more), ["a"])
      return branch?._tag === "Node" ? branch.calls.map(({ outcome }) => outcome) : undefined
    }
    const outcome = Message.denied("no")
    expect(calls()).toEqual(["Pending"])
    expect(calls({ _tag: "Agent", path: ["a"], event: { _tag: "ToolFinished", ...call, outcome } })).toEqual(["Denied"])
    expect(calls({ _tag: "Agent", path: ["a"], event: { _tag: "StepReset", step: 2 } })).toEqual(["Pending"])
    expect(calls({ _tag: "Agent", path: ["a"], event: { _tag: "StepReset", step: 1 } })).toEqual([])
    expect(calls({ _tag: "Agent", path: ["a"], event: { _tag: "Reset" } })).toEqual([])
  })

  it.effect("follows a run, with the calls of tools of an agent", () =>
    Effect.gen(function* () {
      const search = Tool.make({
        name: "search",
        description: "Searches.",
        parameters: Schema.Struct({ words: Schema.String }),
        execute: () => Effect.succeed("found")
      })
      const clerk = Agent.make({ name: "clerk", tools: Tools.make(search) })
      const model = yield* ScriptedModel.make([
        { calls: [{ tool: "search", arguments: { words: "looms" } }] },
        "A loom weaves."
      ])
      const workflow = Workflow.make({
        name: "work",
        node: Node.sequence(
          Node.agent("ask", clerk),
          Node.step("split", (text: string) => text.split(" ")),
          Node.each(
            "words",
            Node.step("shout", (word: string) => word.toUpperCase())
          )
        )
      })
      const progress = yield* folded(Workflow.stream(workflow, "Looms?")).pipe(
        Effect.provideService(ChatModel.ChatModel, model.service)
      )
      expect(WorkflowProgress.at(progress, ["ask"])).toMatchObject({
        kind: "agent",
        status: "done",
        calls: [{ name: "search", arguments: { words: "looms" }, outcome: "Succeeded" }]
      })
      expect(told(progress).filter((line) => line.includes("shout"))).toHaveLength(3)
    })
  )
})
