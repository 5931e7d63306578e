import { Agent, type ChatModel, Tool, Tools } from "@heddle/core"
import { type HistoryStore, Node, Workflow, type WorkflowErrors, type WorkflowEvent } from "@heddle/workflow"
import { Context, Data, Effect, type Exit, type Option, Schedule, Schema } from "effect"
import { describe, expect, expectTypeOf, it } from "vitest"

class Db extends Context.Tag("Db")<Db, { readonly find: (n: number) => Effect.Effect<string, Missing> }>() {}
class Missing extends Data.TaggedError("Missing") {}
class Denied extends Data.TaggedError("Denied") {}

type Store = HistoryStore.HistoryStore

const find = Node.step("find", (n: number) => Effect.flatMap(Db, (db) => db.find(n)))
const shout = Node.step("shout", (s: string) => (s === "" ? new Denied() : Effect.succeed(s.toUpperCase())))
const length = Node.step("length", (s: string) => s.length)
const double = Node.step("double", (n: number) => 2 * n)

describe("the type of a node", () => {
  it("of a step is read off its function", () => {
    expectTypeOf(find).toEqualTypeOf<Node.Node<number, string, Missing, Db>>()
    expectTypeOf(shout).toEqualTypeOf<Node.Node<string, string, Denied, never>>()
    expectTypeOf(length).toEqualTypeOf<Node.Node<string, number, never, never>>()
    expectTypeOf(Node.step("x", () => new Denied())).toEqualTypeOf<Node.Node<unknown, never, Denied, never>>()
    // An Effect is what waits.
    const promised = Node.step("x", () => Promise.resolve("1"))
    expectTypeOf(promised).toEqualTypeOf<Node.Node<unknown, Node.NotWaitedFor, never, never>>()
    // @ts-expect-error so nothing goes on with a promise
    Node.andThen(promised, length)
    // What is of any type, or of one that is not known yet, is taken as it is.
    expectTypeOf(Node.step("parse", (text: string) => JSON.parse(text))).toBeObject()
    const generic = <A>(f: (text: string) => A) => Node.step("generic", f)
    expectTypeOf(generic((text) => text.length)).toEqualTypeOf<Node.Node<string, number, never, never>>()
  })

  it("of an agent step is read off the agent", () => {
    const lookUp = Tool.make({
      name: "look_up",
      description: "",
      parameters: Schema.Struct({}),
      execute: () => Effect.as(Db, "")
    })
    const agent = Agent.make({ name: "a", tools: Tools.make(lookUp), output: Schema.Struct({ n: Schema.Number }) })
    const node = Node.agent("a", agent, { prompt: (n: number) => `${n}` })
    expectTypeOf<Node.Input<typeof node>>().toEqualTypeOf<number>()
    expectTypeOf<Node.Output<typeof node>>().toEqualTypeOf<{ readonly n: number }>()
    expectTypeOf<Node.Error<typeof node>>().toEqualTypeOf<Agent.Error<typeof agent>>()
    expectTypeOf<Node.Context<typeof node>>().toEqualTypeOf<ChatModel.ChatModel | Db>()
    expectTypeOf<Node.Input<ReturnType<typeof plain>>>().toEqualTypeOf<Agent.Input>()
    expectTypeOf<Node.Output<ReturnType<typeof plain>>>().toEqualTypeOf<string>()
    const kept = Node.agent("a", agent, {
      prompt: (n: number) => `${n}`,
      result: ({ output }, n) => (n === 0 ? new Denied() : Effect.as(Db, output.n + n))
    })
    expectTypeOf(kept).toEqualTypeOf<
      Node.Node<number, number, Agent.Error<typeof agent> | Denied, ChatModel.ChatModel | Db>
    >()
  })
  const plain = () => Node.agent("a", Agent.make({ name: "a" }))

  it("of a sequence unites errors and needs, and every edge is checked", () => {
    expectTypeOf(Node.sequence(find, shout, length)).toEqualTypeOf<Node.Node<number, number, Missing | Denied, Db>>()
    expectTypeOf(find.pipe(Node.andThen(shout), Node.andThen(length))).toEqualTypeOf<
      Node.Node<number, number, Missing | Denied, Db>
    >()
    // @ts-expect-error a number is no string
    find.pipe(Node.andThen(double))
    // @ts-expect-error a string is no number
    Node.sequence(length, shout)
    // @ts-expect-error nor further on
    Node.sequence(find, length, double, length)
  })

  it("of a condition unites what both sides give", () => {
    const both = Node.condition("c", { if: () => Effect.as(Db, true), onTrue: shout, onFalse: length })
    expectTypeOf(both).toEqualTypeOf<Node.Node<string, string | number, Denied, Db>>()
    const one = Node.condition("c", { if: (s: string) => s !== "", onTrue: length })
    expectTypeOf(one).toEqualTypeOf<Node.Node<string, string | number, never, never>>()
    // @ts-expect-error a number does not hold
    Node.condition("c", { if: (s: string) => s.length, onTrue: length })
  })

  it("of a loop has LoopLimitReached where the limit fails", () => {
    const failing = Node.loop("l", double, { while: (n) => n < 9, max: 9, onMax: "fail" })
    expectTypeOf(failing).toEqualTypeOf<Node.Node<number, number, WorkflowErrors.LoopLimitReached, never>>()
    const stopping = Node.loop("l", double, { until: () => new Missing(), max: 9, onMax: "stop" })
    expectTypeOf(stopping).toEqualTypeOf<Node.Node<number, number, Missing, never>>()
    // @ts-expect-error what a round gives the next must take
    Node.loop("l", length, { max: 1, onMax: "stop" })
  })

  it("of a parallel node is a record by branch, of what its settlement gives", () => {
    expectTypeOf(Node.parallel("p", { a: shout, b: length })).toEqualTypeOf<
      Node.Node<string, { readonly a: string; readonly b: number }, Denied, never>
    >()
    expectTypeOf(Node.parallel("p", { a: shout, b: length }, { settlement: "settle" })).toEqualTypeOf<
      Node.Node<string, { readonly a: Exit.Exit<string, Denied>; readonly b: Exit.Exit<number> }, never, never>
    >()
    expectTypeOf(Node.parallel("p", { a: shout, b: length }, { settlement: { atLeast: 1 } })).toEqualTypeOf<
      Node.Node<string, { readonly a?: string; readonly b?: number }, WorkflowErrors.TooFewSucceeded, never>
    >()
    const name = Node.step("name", (o: { readonly name: string }) => o.name)
    const age = Node.step("age", (o: { readonly age: number }) => o.age)
    const person = Node.parallel("p", { name, age })
    expectTypeOf<{ readonly name: string; readonly age: number }>().toExtend<Node.Input<typeof person>>()
    // @ts-expect-error one branch takes a number, one a string
    Node.parallel("p", { a: double, b: length })
    // @ts-expect-error so do routes
    Node.router("r", { choose: () => "a", routes: { a: double, b: length } })
  })

  it("of a node over an array is one over arrays", () => {
    expectTypeOf(Node.each("e", shout)).toEqualTypeOf<
      Node.Node<ReadonlyArray<string>, ReadonlyArray<string>, Denied, never>
    >()
    expectTypeOf(Node.each("e", shout, { settlement: "settle" })).toEqualTypeOf<
      Node.Node<ReadonlyArray<string>, ReadonlyArray<Exit.Exit<string, Denied>>, never, never>
    >()
    expectTypeOf(Node.each("e", shout, { settlement: { atLeast: 1 } })).toEqualTypeOf<
      Node.Node<ReadonlyArray<string>, ReadonlyArray<Option.Option<string>>, WorkflowErrors.TooFewSucceeded, never>
    >()
  })

  it("of a router has UnknownRoute unless the choice is known to be a route", () => {
    const routes = { loud: shout, long: length }
    expectTypeOf(Node.router("r", { choose: (s) => (s === "" ? "loud" : "long"), routes })).toEqualTypeOf<
      Node.Node<string, string | number, Denied, never>
    >()
    expectTypeOf(Node.router("r", { choose: (s) => s, routes })).toEqualTypeOf<
      Node.Node<string, string | number, Denied | WorkflowErrors.UnknownRoute, never>
    >()
    expectTypeOf(Node.router("r", { choose: () => Effect.as(Db, "loud" as const), routes })).toEqualTypeOf<
      Node.Node<string, string | number, Denied, Db>
    >()
    // A node written in its place has the type that it has elsewhere.
    expectTypeOf(
      Node.router("r", { choose: () => "x" as const, routes: { x: Node.step("x", () => 1) } })
    ).toEqualTypeOf<Node.Node<unknown, number, never, never>>()
  })

  it("loses the errors that are handled, and gains those of what handles them", () => {
    expectTypeOf(Node.orSkip(shout)).toEqualTypeOf<Node.Node<string, string, never, never>>()
    expectTypeOf(shout.pipe(Node.orElse(length))).toEqualTypeOf<Node.Node<string, string | number, never, never>>()
    expectTypeOf(shout.pipe(Node.orElse((error, input) => [error, input] as const))).toEqualTypeOf<
      Node.Node<string, string | readonly [Denied, string], never, never>
    >()
    expectTypeOf(Node.timeout(shout, "1 second")).toEqualTypeOf<
      Node.Node<string, string, Denied | WorkflowErrors.NodeTimeout, never>
    >()
    expectTypeOf(Node.retry(shout, { times: 1, while: (error) => error._tag === "Denied" })).toEqualTypeOf(shout)
    // A schedule that takes any error does not make the error any error.
    expectTypeOf(shout.pipe(Node.retry({ schedule: Schedule.forever }))).toEqualTypeOf(shout)
    expectTypeOf(Node.retry(length, { schedule: Schedule.forever })).toEqualTypeOf(length)
  })

  it("needs the history store where a policy is on", () => {
    expectTypeOf(Node.withHistory(length, { mode: "on" })).toEqualTypeOf<Node.Node<string, number, never, Store>>()
    expectTypeOf(Node.withHistory(length, { mode: "off", runs: 3 })).toEqualTypeOf(length)
    expectTypeOf(Node.withHistory(length, { runs: "all" })).toEqualTypeOf(length)
    expectTypeOf(length.pipe(Node.withHistory({ mode: "inherit" }))).toEqualTypeOf(length)
    // @ts-expect-error there is no such field
    expect(() => Node.withHistory(length, { mode: "on", run: 5 })).toThrow('no "run"')
    // @ts-expect-error nor such a field of a layout
    expect(() => Node.withHistory(length, { format: { header: "<h>", maxCharacter: 3 } })).toThrow('"maxCharacter"')
    // @ts-expect-error nor here
    expect(() => Workflow.make({ name: "w", node: length, history: { mode: "on", stati: [] } })).toThrow('no "stati"')
    const unsure = { mode: "off" as "on" | "off" }
    expectTypeOf(Node.withHistory(length, unsure)).toEqualTypeOf<Node.Node<string, number, never, Store>>()
  })
})

describe("the type of a run", () => {
  const workflow = Workflow.make({ name: "w", node: find })
  const shown = Workflow.make({ name: "w", node: find, history: { mode: "on" } })

  it("has the output, the errors and the needs", () => {
    expectTypeOf(workflow).toEqualTypeOf<Workflow.Workflow<number, string, Missing, Db>>()
    expectTypeOf(Workflow.run(workflow, 1)).toEqualTypeOf<
      Effect.Effect<WorkflowEvent.WorkflowResult<string>, Missing | Workflow.RunError, Db>
    >()
    expectTypeOf(Workflow.run(workflow, 1, { sessionId: "s" })).toEqualTypeOf<
      Effect.Effect<
        WorkflowEvent.WorkflowResult<string>,
        Missing | Workflow.RunError | WorkflowErrors.HistoryUnavailable,
        Db | Store
      >
    >()
    // @ts-expect-error a string is no number
    Workflow.run(workflow, "1")
  })

  it("asks for a session where history is shown", () => {
    expectTypeOf(shown).toEqualTypeOf<Workflow.Workflow<number, string, Missing, Db | Store>>()
    Workflow.run(shown, 1, { sessionId: "s" })
    // @ts-expect-error no session
    Workflow.run(shown, 1)
    // @ts-expect-error no session
    Workflow.stream(shown, 1, { runId: "r" })
    // @ts-expect-error the store is not there
    const program: Effect.Effect<unknown, unknown, Db> = Workflow.run(shown, 1, { sessionId: "s" })
    void program
  })

  it("is that of a node, so it stands in another", () => {
    expectTypeOf(Node.andThen(workflow, length)).toEqualTypeOf<Node.Node<number, number, Missing, Db>>()
  })
})
