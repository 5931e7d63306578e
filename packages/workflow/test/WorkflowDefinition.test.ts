// A condition of a definition has a `then`, which is data: nothing can wait for it.
/* oxlint-disable unicorn/no-thenable */
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Agent, type AgentRun, type ChatModel, type Errors, Handler, Instructions, Message } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { HistoryStore, Workflow, WorkflowErrors } from "@heddle/workflow"
import { WorkflowDefinition } from "@heddle/workflow/definition"
import {
  Cause,
  Context,
  Data,
  Effect,
  Either,
  Exit,
  FastCheck,
  Fiber,
  Layer,
  Option,
  Schema,
  Stream,
  TestClock
} from "effect"

class Refused extends Data.TaggedError("Refused")<{ readonly value: unknown }> {}

const writer = Agent.make({ name: "writer", instructions: "Write." })

const registry = {
  agents: { writer },
  functions: {
    same: (input: unknown) => input,
    inc: (input: unknown) => Number(input) + 1,
    refuse: (value: unknown) => Effect.fail(new Refused({ value }))
  }
} satisfies WorkflowDefinition.Registry

const problemsOf = (definition: unknown, names: WorkflowDefinition.Registry = registry) =>
  Effect.map(Effect.flip(WorkflowDefinition.compile(definition, names)), (error) =>
    error.message
      .split("\n")
      .slice(1)
      .map((line) => line.slice(2))
  )

const step = (name: string, f = "same") => ({ type: "step", name, function: f })
const of = (node: unknown, more: object = {}) => ({ name: "test", node, ...more })

/** Runs a definition with a model that repeats what it is asked. */
const run = (definition: unknown, input: unknown, names: WorkflowDefinition.Registry = registry) =>
  // A registry of any functions: here none needs anything but the model.
  Effect.flatMap(WorkflowDefinition.compile(definition, names as typeof registry), (workflow) =>
    Effect.map(Workflow.run(workflow, input, { sessionId: "s" }), ({ output }) => output)
  ).pipe(Effect.provide(Layer.merge(HistoryStore.layerMemory(), echo)))

const echo = ScriptedModel.layer(({ history }) => `re: ${Message.text(history.at(-1)!)}`)

describe("what is wrong with a definition", () => {
  const cases: ReadonlyArray<readonly [rule: string, definition: unknown, problems: ReadonlyArray<string>]> = [
    ["nothing at all", null, ["must be an object, and is nothing"]],
    ["a list", [], ["must be an object, and is a list"]],
    ["a node that is none", of(5), ["node: must be an object, and is 5"]],
    [
      "nothing where something has to be",
      of(
        {
          type: "sequence",
          nodes: [
            null,
            { ...step("a"), retry: null, history: null },
            { ...step("b"), retry: "twice", history: { format: null, statuses: null } },
            { type: "sequence", nodes: null },
            { type: "parallel", name: "c", branches: null },
            { type: "parallel", name: "d", branches: { a: null } },
            { type: "condition", name: "e", if: null, then: null },
            { type: null, name: null }
          ]
        },
        { workflows: { a: null, b: { node: null } }, history: [], maxNodes: null, onHistoryUnavailable: null }
      ),
      [
        "node.nodes[0]: must be an object, and is nothing",
        "node.nodes[1].retry: must be an object, and is nothing",
        "node.nodes[1].history: must be an object, and is nothing",
        'node.nodes[2].retry: must be an object, and is "twice"',
        "node.nodes[2].history.statuses: must be a list of statuses, and is nothing",
        "node.nodes[2].history.format: must be an object, and is nothing",
        "node.nodes[3].nodes: must be a list of nodes, and is nothing",
        "node.nodes[4].branches: must be an object of nodes, and is nothing",
        "node.nodes[5].branches.a: must be an object, and is nothing",
        "node.nodes[6].if: must be a CEL expression, and is nothing",
        "node.nodes[6].then: must be an object, and is nothing",
        'node.nodes[7].type: expected "agent" | "step" | "sequence" | "condition" | "loop" | "parallel" | "each" | "router" | "workflow", actual null',
        "history: must be an object, and is a list",
        "maxNodes: expected a whole number from 1",
        'onHistoryUnavailable: expected "fail" or "continue"',
        "workflows.a: must be an object, and is nothing",
        "workflows.b.node: must be an object, and is nothing"
      ]
    ],
    [
      "arrays in place of objects",
      of({ type: "parallel", name: "a", branches: [] }, { workflows: [1] }),
      [
        "node.branches: must be an object of nodes, and is a list",
        "workflows: must be an object of workflows, and is a list"
      ]
    ],
    ["no type", of({ name: "a" }), ["node.type: is missing"]],
    [
      "an unknown type",
      of({ type: "agnt", name: "a" }),
      [
        'node.type: expected "agent" | "step" | "sequence" | "condition" | "loop" | "parallel" | "each" | "router" | "workflow", actual "agnt"'
      ]
    ],
    ["an empty name", of(step(" ")), ["node.name: expected a name"]],
    ["a missing field", of({ type: "step", name: "a" }), ["node.function: is missing"]],
    [
      "an unknown key",
      of({ ...step("a"), timeuot: 1 }),
      [
        'node.timeuot: unknown key "timeuot": there are "type", "name", "function", "timeout", "retry", "onError", "history"; is "timeout" meant?'
      ]
    ],
    [
      "an unknown key at the top",
      of(step("a"), { nods: 1 }),
      [
        'nods: unknown key "nods": there are "name", "node", "history", "maxNodes", "onHistoryUnavailable", "workflows"; is "node" meant?'
      ]
    ],
    [
      "an unknown agent",
      of({ type: "sequence", nodes: [step("a"), step("b"), { type: "agent", name: "c", agent: "wirter" }] }),
      ['node.nodes[2].agent: unknown agent "wirter": there are "writer"; is "writer" meant?']
    ],
    [
      "an unknown function",
      of(step("a", "something")),
      ['node.function: unknown function "something": there are "same", "inc", "refuse"']
    ],
    [
      "names of prototypes",
      of({ type: "sequence", nodes: [step("a", "__proto__"), { type: "agent", name: "b", agent: "constructor" }] }),
      [
        'node.nodes[0].function: unknown function "__proto__": there are "same", "inc", "refuse"',
        'node.nodes[1].agent: unknown agent "constructor": there are "writer"'
      ]
    ],
    [
      "an unknown reference",
      of({ type: "workflow", workflow: "revue" }, { workflows: { review: { node: step("a") } } }),
      ['node.workflow: unknown workflow "revue": there are "review"; is "review" meant?']
    ],
    [
      "a reference with nothing to refer to",
      of({ type: "workflow", workflow: "toString" }),
      ['node.workflow: unknown workflow "toString": there are none']
    ],
    [
      "a cycle of references",
      of(
        { type: "workflow", workflow: "a" },
        {
          workflows: {
            a: { node: { type: "workflow", workflow: "b" } },
            b: { node: { type: "sequence", nodes: [step("x"), { type: "workflow", workflow: "a" }] } }
          }
        }
      ),
      ["workflows.b.node.nodes[1].workflow: a cycle of references: a → b → a"]
    ],
    [
      "a workflow in itself",
      of(step("x"), { workflows: { "a b": { node: { type: "workflow", workflow: "a b" } } } }),
      ['workflows["a b"].node.workflow: a cycle of references: a b → a b']
    ],
    [
      "a syntax error in an expression",
      of({ type: "condition", name: "a", if: "value.x >", then: step("b") }),
      ["node.if: bad expression: Unexpected token: EOF at character 10"]
    ],
    [
      "an unknown variable in an expression",
      of({ type: "condition", name: "a", if: "true && round > 1", then: step("b") }),
      ["node.if: bad expression: Unknown variable: round at character 9"]
    ],
    [
      "a condition that is no boolean",
      of({ type: "loop", name: "a", while: "size(value)", until: "'yes'", max: 2, body: step("b") }),
      [
        "node.while: bad expression: it gives int, not true or false",
        "node.until: bad expression: it gives string, not true or false"
      ]
    ],
    [
      "a prompt and a route that are no strings",
      of({
        type: "sequence",
        nodes: [
          { type: "agent", name: "a", agent: "writer", prompt: "1" },
          { type: "router", name: "b", choose: "true", routes: { x: step("c") } }
        ]
      }),
      [
        "node.nodes[0].prompt: bad expression: it gives int, not a string",
        "node.nodes[1].choose: bad expression: it gives bool, not a string"
      ]
    ],
    [
      "regular expressions",
      of({ type: "condition", name: "a", if: "value.matches('(a+)+$')", then: step("b") }),
      ["node.if: bad expression: there is no `matches`: a regular expression may take forever"]
    ],
    [
      "an expression that is too long",
      of({ type: "condition", name: "a", if: "!".repeat(10_001), then: step("b") }),
      ["node.if: an expression has 10000 characters at the most"]
    ],
    [
      "an expression that is too deep",
      of({ type: "condition", name: "a", if: `${"(".repeat(200)}true${")".repeat(200)}`, then: step("b") }),
      ["node.if: bad expression: Exceeded maxDepth (100) at character 101"]
    ],
    [
      "a name twice",
      of({ type: "sequence", nodes: [step("a"), { type: "condition", name: "b", if: "true", then: step("a") }] }),
      ['node.nodes[1].then.name: "a" is the name of node.nodes[0], too; a name is used once in a workflow']
    ],
    [
      "a reference twice under one name",
      of(
        {
          type: "sequence",
          nodes: [
            { type: "workflow", workflow: "a" },
            { type: "workflow", workflow: "a" }
          ]
        },
        { workflows: { a: { name: "called", node: step("x") } } }
      ),
      ['node.nodes[1]: "called" is the name of node.nodes[0], too; a name is used once in a workflow']
    ],
    [
      "a name that its fallback has, too",
      of({ ...step("a"), onError: { fallback: step("a") } }),
      ['node.onError.fallback.name: "a" is the name of node, too; a name is used once in a workflow']
    ],
    [
      "a loop that always fails",
      of({ type: "loop", name: "a", max: 2, body: step("b") }),
      ['node: a loop needs a "while" or an "until", else it always fails at "max"; or "onMax": "stop"']
    ],
    [
      "bad counts",
      of(
        {
          type: "sequence",
          nodes: [
            { type: "loop", name: "a", max: 0, onMax: "stop", body: step("b") },
            { type: "each", name: "c", concurrency: 1.5, body: step("d") },
            { ...step("e"), retry: { times: -1, factor: 0 } },
            { ...step("f"), history: { runs: -1, statuses: [], format: { maxCharacters: "5" } } }
          ]
        },
        { maxNodes: 0 }
      ),
      [
        "node.nodes[0].max: expected a whole number from 1",
        "node.nodes[1].concurrency: expected a whole number from 1",
        "node.nodes[2].retry.times: expected a whole number from 0",
        "node.nodes[2].retry.factor: expected a number from 1 to 1000",
        'node.nodes[3].history.runs: expected "inherit", "all" or a whole number from 0',
        'node.nodes[3].history.statuses: expected one status at least; "mode" turns history off',
        "node.nodes[3].history.format.maxCharacters: expected a whole number from 0",
        "maxNodes: expected a whole number from 1",
        'node.nodes[2].retry.factor: there is no "delay" that it could apply to'
      ]
    ],
    [
      "history in which one run could pass for another",
      of(
        { ...step("a"), history: { format: { inputLabel: "a:b" } } },
        {
          history: { format: { header: "two\nlines" } },
          workflows: { b: { node: step("c"), history: { format: { inputLabel: "x", outputLabel: "x" } } } }
        }
      ),
      [
        'history.format: the header "two\\nlines" has a line break in it.',
        'workflows.b.history.format: the outputLabel "x" is the inputLabel too.',
        'node.history.format: the inputLabel "a:b" has a colon in it.'
      ]
    ],
    [
      "bad durations",
      of({
        type: "sequence",
        nodes: [
          { ...step("a"), timeout: "3 sconds" },
          { ...step("b"), timeout: "0 seconds" },
          { ...step("c"), timeout: -1, retry: { delay: "soon", maxDelay: Infinity } }
        ]
      }),
      [
        'node.nodes[0].timeout: expected a duration of more than 0: milliseconds, or such as "30 seconds"',
        'node.nodes[1].timeout: expected a duration of more than 0: milliseconds, or such as "30 seconds"',
        'node.nodes[2].timeout: expected a duration of more than 0: milliseconds, or such as "30 seconds"',
        'node.nodes[2].retry.delay: expected a duration: milliseconds, or such as "30 seconds"',
        'node.nodes[2].retry.maxDelay: expected a duration: milliseconds, or such as "30 seconds"'
      ]
    ],
    [
      "nothing inside",
      of({
        type: "sequence",
        nodes: [
          { type: "sequence", nodes: [] },
          { type: "parallel", name: "a", branches: {} },
          { type: "router", name: "b", choose: "'x'", routes: {} }
        ]
      }),
      [
        "node.nodes[0].nodes: expected one node at least",
        "node.nodes[1].branches: expected one entry at least",
        "node.nodes[2].routes: expected one entry at least"
      ]
    ],
    [
      "more branches to succeed than there are",
      of({ type: "parallel", name: "a", branches: { x: step("b") }, settlement: { atLeast: 2 } }),
      ["node.settlement.atLeast: of 1 branches, 2 cannot succeed"]
    ],
    [
      "a settlement that there is not",
      of({ type: "parallel", name: "a", branches: { x: step("b") }, settlement: "any" }),
      ['node.settlement: expected "fail-fast", "settle" or { "atLeast": a whole number from 0 }']
    ],
    [
      "an end of failures that there is not",
      of({ ...step("a"), onError: "ignore" }),
      ['node.onError: expected "fail", "skip" or { "fallback": a node }']
    ],
    [
      "a fallback that is none",
      of({
        type: "sequence",
        nodes: [
          { ...step("a"), onError: null },
          { ...step("b"), onError: [] },
          { ...step("c"), onError: {} },
          { ...step("d"), onError: { fallback: 1 } }
        ]
      }),
      [
        'node.nodes[0].onError: expected "fail", "skip" or { "fallback": a node }',
        'node.nodes[1].onError: expected "fail", "skip" or { "fallback": a node }',
        "node.nodes[2].onError.fallback: is missing",
        "node.nodes[3].onError.fallback: must be an object, and is 1"
      ]
    ],
    [
      "what is wrong inside of a fallback",
      of({ ...step("a"), onError: { fallback: { type: "step", name: "b" } } }),
      ["node.onError.fallback.function: is missing"]
    ]
  ]

  it.effect.each(cases)("is told by message and path: %s", ([, definition, problems]) =>
    Effect.map(problemsOf(definition), (found) => expect(found).toEqual(problems))
  )

  it.effect("is one error, whatever kinds of problem there are", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        WorkflowDefinition.compile(
          {
            node: {
              type: "sequence",
              nodes: [
                { type: "agent", name: "a", agent: "nobody", prompt: "value +" },
                { type: "step", name: "a", functoin: "inc" },
                { type: "nonsense", body: step("b", "nothing") }
              ]
            },
            workflows: { x: { node: { type: "workflow", workflow: "x" } } }
          },
          registry
        )
      )
      expect(error).toBeInstanceOf(WorkflowErrors.InvalidDefinition)
      expect(error.problems.map(({ path }) => path)).toEqual([
        ["name"],
        ["node", "nodes", 1, "functoin"],
        ["node", "nodes", 1, "function"],
        ["node", "nodes", 2, "type"],
        ["node", "nodes", 0, "agent"],
        ["node", "nodes", 0, "prompt"],
        ["node", "nodes", 1, "name"],
        ["node", "nodes", 2, "body", "function"],
        ["workflows", "x", "node", "workflow"]
      ])
      expect(error.message).toContain("The definition is no workflow:\n- name: is missing\n- node.nodes[1].functoin: ")
    })
  )

  it.effect("a value of any size makes one short line", () =>
    Effect.gen(function* () {
      const [problem] = yield* problemsOf(of({ ...step("a"), retry: "a long text".repeat(1000) }))
      expect(problem).toHaveLength("node.retry: ".length + 501)
    })
  )
})

describe("a definition that means harm", () => {
  const nested = (depth: number, around: (inner: unknown, i: number) => unknown) => {
    let node: unknown = step("leaf")
    for (let i = 0; i < depth; i++) node = around(node, i)
    return node
  }

  it.effect("is refused when it is 10,000 levels deep", () =>
    Effect.gen(function* () {
      for (const around of [
        (inner: unknown) => ({ type: "sequence", nodes: [inner] }),
        (then: unknown, i: number) => ({ type: "condition", name: `c${i}`, if: "true", then }),
        (fallback: unknown, i: number) => ({ ...step(`s${i}`), onError: { fallback } })
      ]) {
        const [problem, ...others] = yield* problemsOf(of(nested(10_000, around)))
        expect(problem).toMatch(/^node\..+: too deep: more than 200 levels$/)
        expect(others).toEqual([])
      }
    })
  )

  it.effect("may be as deep as it can be", () =>
    Effect.gen(function* () {
      const definition = of(nested(198, (then, i) => ({ type: "condition", name: `c${i}`, if: "true", then })))
      expect(yield* run(definition, 1)).toBe(1)
    })
  )

  it.effect("is taken as the JSON that it would be, without what a prototype has", () =>
    Effect.gen(function* () {
      class Step {
        readonly type = "step"
        readonly name = "a"
        readonly timeout = undefined
        readonly retry = { times: 1n }
        get function() {
          return "nothing"
        }
      }
      const node = new Step()
      expect(yield* problemsOf(of(node))).toEqual(["node.function: is missing"])
      expect(yield* run(of({ ...node, function: "same" }), 1)).toBe(1)
    })
  )

  it.effect("is refused when it cannot be read, or gives more than it seems to have", () =>
    Effect.gen(function* () {
      const oops = () => {
        throw new Error("oops")
      }
      let deep: unknown = 1
      for (let i = 0; i < 100_000; i++) deep = [deep]
      const level300 = JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`) as unknown
      const wide = Array.from({ length: 1000 }, () => 1)
      const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
        [Object.defineProperty({}, "name", { get: oops, enumerable: true }), /^cannot be read: oops$/],
        [new Proxy({}, { ownKeys: oops }), /^cannot be read: oops$/],
        [of({ toJSON: oops }), /^cannot be read: oops$/],
        [
          of({
            toJSON: () => {
              throw Object.create(null)
            }
          }),
          /^cannot be read: object$/
        ],
        [of({ toJSON: () => deep }), /^cannot be read: /],
        [of({ toJSON: () => level300 }), /^node.*: too deep: more than 200 levels$/],
        [of(Array.from({ length: 1000 }, () => ({ toJSON: () => wide }))), /^too large: more than 100000 values$/]
      ]
      for (const [definition, problem] of cases) {
        expect(yield* problemsOf(definition)).toEqual([expect.stringMatching(problem)])
      }
    })
  )

  it.effect("is refused when it contains itself", () =>
    Effect.gen(function* () {
      const node: { type: string; nodes: Array<unknown> } = { type: "sequence", nodes: [] }
      node.nodes.push(node)
      expect(yield* problemsOf(of(node))).toEqual([expect.stringContaining("too deep")])
    })
  )

  it.effect("is refused when one value stands in it again and again", () =>
    Effect.gen(function* () {
      const bomb = nested(30, (inner) => ({ type: "sequence", nodes: [inner, inner] }))
      expect(yield* problemsOf(of(bomb))).toEqual(["too large: more than 100000 values"])
    })
  )

  it.effect("is refused when its references make it large, or deep", () =>
    Effect.gen(function* () {
      const chain = (length: number, node: (next: unknown) => unknown) =>
        Object.fromEntries(
          Array.from({ length }, (_, i) => [
            `w${i}`,
            { node: i + 1 === length ? step("leaf") : node({ type: "workflow", workflow: `w${i + 1}` }) }
          ])
        )
      const twice = (next: unknown) => ({
        type: "sequence",
        nodes: [next, { ...(next as object), name: "again" }]
      })
      const root = { type: "workflow", workflow: "w0" }
      const large = yield* problemsOf(of(root, { workflows: chain(20, twice) }))
      expect(large).toEqual([
        expect.stringMatching(/^workflows\.w\d+\.node\.nodes.*: too large: .*more than 10000 nodes$/)
      ])
      expect(
        yield* problemsOf(of(root, { workflows: chain(150, (next) => ({ type: "sequence", nodes: [next] })) }))
      ).toEqual([expect.stringMatching(/too deep: .*more than 200 levels of nodes$/)])
      expect(yield* problemsOf(of(root, { workflows: chain(5000, (next) => next) }))).toEqual(
        expect.arrayContaining([expect.stringMatching(/too deep: more than 200 references one inside of the other$/)])
      )
    })
  )

  it.effect("is told of in time, however much is wrong with it", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 10_000 }, (_, i) => i)
      const found = yield* problemsOf({
        name: "test",
        node: {
          type: "sequence",
          nodes: many.map((i) => ({ type: "workflow", name: `n${i}`, workflow: `unknown${i}` }))
        },
        workflows: Object.fromEntries(many.map((i) => [`w${i}`, { node: step("s") }]))
      })
      expect(found).toHaveLength(many.length)
      expect(found[0]).toContain('unknown workflow "unknown0": there are "w0", "w1", ')
      expect(found[0]).toMatch(/"w19" and 9980 more$/)
      expect(found.at(-1)).toBe('node.nodes[9999].workflow: unknown workflow "unknown9999"')
    })
  )

  it.effect("finds no names but a registry's own", () =>
    Effect.gen(function* () {
      const text = `{ "name": "test", "node": { "type": "parallel", "name": "all", "branches": {
        "__proto__": { "type": "step", "name": "__proto__", "function": "__proto__" },
        "constructor": { "type": "router", "name": "b", "choose": "value", "routes": {
          "__proto__": { "type": "step", "name": "toString", "function": "constructor" } } } } } }`
      const functions = Object.fromEntries([
        ["__proto__", () => 1],
        ["constructor", () => 2]
      ])
      const definition = yield* WorkflowDefinition.parse(text)
      const output = yield* run(definition, "__proto__", { functions })
      expect(Object.entries(output as object)).toEqual([
        ["__proto__", 1],
        ["constructor", 2]
      ])
      expect(yield* Effect.flip(run(definition, "constructor", { functions }))).toMatchObject({
        _tag: "UnknownRoute",
        routes: ["__proto__"]
      })
    })
  )

  it.effect.prop("never makes compile die", [anyNode], ([node]) =>
    Effect.map(
      Effect.either(WorkflowDefinition.compile(of(node), registry)),
      (result) => void expect(Either.isRight(result) || result.left.problems.length > 0).toBe(true)
    )
  )
})

/** Nodes, right and wrong, of all kinds. */
const anyNode: FastCheck.Arbitrary<unknown> = FastCheck.letrec((tie) => {
  const name = FastCheck.constantFrom("a", "b", "c", "__proto__", "", 1)
  const text = FastCheck.constantFrom("value", "true", "value > 1", "value +", "", "round", 1)
  const count = FastCheck.constantFrom(-1, 0, 1, 2, 1.5, "1", null)
  const some = <A>(arbitrary: FastCheck.Arbitrary<A>) => FastCheck.option(arbitrary, { nil: "nothing", freq: 20 })
  const node = some(tie("node"))
  const nodes = FastCheck.dictionary(FastCheck.constantFrom("x", "y", "__proto__"), node, { maxKeys: 2 })
  return {
    node: FastCheck.oneof(
      { maxDepth: 3, withCrossShrink: true },
      FastCheck.constant(step("leaf")),
      FastCheck.record(
        {
          type: FastCheck.constantFrom(
            ..."agent step sequence condition loop parallel each router workflow no".split(" ")
          ),
          name,
          agent: FastCheck.constantFrom("writer", "nobody", 1),
          function: FastCheck.constantFrom("same", "nothing", null),
          prompt: text,
          nodes: some(FastCheck.array(node, { maxLength: 2 })),
          then: node,
          else: node,
          body: node,
          if: text,
          while: text,
          until: text,
          choose: text,
          max: count,
          onMax: FastCheck.constantFrom("fail", "stop", "go"),
          branches: some(nodes),
          routes: some(nodes),
          settlement: FastCheck.oneof(FastCheck.constantFrom("settle", "no"), FastCheck.record({ atLeast: count })),
          concurrency: count,
          workflow: name,
          timeout: FastCheck.constantFrom(1, "1 second", "soon", NaN),
          retry: FastCheck.record({ times: count, delay: count, factor: count }, { requiredKeys: [] }),
          onError: FastCheck.oneof(FastCheck.constantFrom("skip", "no"), FastCheck.record({ fallback: node })),
          history: FastCheck.record({ mode: FastCheck.constantFrom("on", "no"), runs: count }, { requiredKeys: [] })
        },
        { requiredKeys: [] }
      )
    )
  }
}).node

describe("an expression", () => {
  const holds = (expression: string, value: unknown) =>
    run(
      of({
        type: "condition",
        name: "if",
        if: expression,
        then: step("yes", "yes"),
        else: step("no", "no")
      }),
      value,
      { functions: { yes: () => true, no: () => false } }
    )
  class Point {
    readonly x = 3
    readonly hidden = undefined
    get twice() {
      return 2 * this.x
    }
  }
  const value = {
    score: 6,
    half: 1.5,
    items: [1, 2, 3],
    text: "some text",
    nothing: null,
    missing: undefined,
    big: 5n,
    point: new Point(),
    day: new Date(0),
    people: [
      { name: "Ada", age: 36, tags: ["first"] },
      { name: "Bob", age: 20, tags: [] }
    ],
    option: Option.some(1)
  }

  it.effect.each([
    "value.score > 5 && size(value.items) == 3",
    "value.score + 1 == 7",
    "1 + value.score == 7",
    "value.score * 2.5 == 15",
    "value.score / 4 == 1.5",
    "value.score % 4 == 2 && value.score % 4.0 == 2",
    "value.items[value.score - 6] == 1",
    "size(value.items) * value.half == 4.5",
    "3 in value.items && !(4 in value.items)",
    "value.items.map(x, x * 2) == [2, 4, 6]",
    "value.items.exists(x, x == 2) && value.items.all(x, x < 4)",
    "value.text.contains('text') && value.text.startsWith('some')",
    "string(value.score) + '!' == '6!'",
    "value.nothing == null",
    "!has(value.missing) && !has(value.other) && has(value.nothing)",
    "value.?other.orValue(3) == 3",
    "value.big == 5 && value.big + value.score == 11",
    "value.point.x == 3 && !has(value.point.hidden)",
    "value.day == '1970-01-01T00:00:00.000Z'",
    "value.option._tag == 'Some' && value.option.value == 1",
    "value.point == {'x': 3} && {'x': 3} == value.point && value.point != {'x': 4}",
    "size(value.point) == 1 && 'x' in value.point && value.point.all(key, key == 'x')",
    "value.people.exists(p, p.name == 'Ada' && p.tags.exists(tag, tag == 'first'))",
    "value.people.filter(p, p.age > 30).map(p, p.name).filter(n, n != '').exists(n, n == 'Ada')"
  ])("sees data as JSON has it: %s", (expression) =>
    Effect.map(holds(expression, value), (held) => expect(held).toBe(true))
  )

  it.effect.each([
    ["value", true],
    ["value == 'a'", "a"],
    ["value == 5", 5],
    ["value == null", undefined],
    ["value == null", null],
    ["value == 5", 5n],
    ["size(value) == 0", []]
  ] as const)("has any value for its input: %s of %o", ([expression, value]) =>
    Effect.map(holds(expression, value), (held) => expect(held).toBe(true))
  )

  it.effect.each([
    ...["constructor", "__proto__", "prototype", "toString", "hasOwnProperty"].flatMap((key) => [
      `value.${key}`,
      `value['${key}']`,
      `value.items.${key}`,
      `value.text['${key}']`,
      `value.score.${key}`,
      `value.point.${key}`,
      `value.point.?${key}.value()`
    ]),
    "value.items.length",
    "value.text.length",
    "value.point.twice"
  ])("has no way to a prototype: %s", (expression) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(holds(`${expression} == 1`, value))
      expect(error).toMatchObject({ _tag: "ExpressionFailed", node: "if" })
      expect(error.message).toMatch(/failed: (No such key|Optional value is not present|cannot|List index)/i)
    })
  )

  it.effect("finds in data what the data has, whatever it is called", () =>
    Effect.gen(function* () {
      expect(yield* holds("'constructor' in value || '__proto__' in value", value)).toBe(false)
      expect(
        yield* holds("value.constructor == 1 && value.__proto__ == 2", JSON.parse('{"constructor":1,"__proto__":2}'))
      ).toBe(true)
    })
  )

  it.effect("that fails, or gives what it should not, is an ExpressionFailed", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(holds("value.missing > 1", {}))
      expect(failed).toBeInstanceOf(WorkflowErrors.ExpressionFailed)
      expect(failed).toMatchObject({ node: "if", expression: "value.missing > 1" })
      expect(failed.message).toBe('The expression `value.missing > 1` of "if" failed: No such key: missing')
      const number = yield* Effect.flip(holds("value.x", { x: 1 }))
      expect(number.message).toBe('The expression `value.x` of "if" failed: It gave number, not true or false.')
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      expect((yield* Effect.flip(holds("value.x", circle))).message).toContain("circular")
      const route = { type: "router", name: "route", choose: "value", routes: { a: step("a") } }
      expect(yield* Effect.flip(run(of(route), 1))).toMatchObject({ _tag: "ExpressionFailed", node: "route" })
      expect(yield* Effect.flip(run(of(route), "b"))).toMatchObject({ _tag: "UnknownRoute", choice: "b" })
      const prompt = { type: "agent", name: "ask", agent: "writer", prompt: "value.x" }
      expect(yield* Effect.flip(run(of(prompt), { x: 1 }))).toMatchObject({ _tag: "ExpressionFailed", node: "ask" })
    })
  )

  // 3,000 numbers, a long text twice over, and a value that is 600 levels deep.
  const much = {
    list: Array.from({ length: 3000 }, (_, i) => i),
    text: "a".repeat(200_000),
    more: ["a".repeat(200_000)],
    keys: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, i])),
    deep: JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`) as unknown
  }
  const twice = (start: string, times: number, of = "[x, x]") => `${start}${`.map(x, ${of})`.repeat(times)}`

  it.effect.each<readonly [what: string, expression: string]>([
    ["doubled lists", `${twice("[[1]]", 40, "x+x")}.size()>0`],
    ["doubled texts", `${twice("['ab']", 40, "x+x")}[0].endsWith('b')`],
    ["doubled bytes", `${twice("[b'ab']", 40, "x+x")}[0].size()>0`],
    ["doubled lists with a name", `cel.bind(a, ${twice("[[1]]", 24, "x+x")}, size(a) > 0)`],
    ["values that are doubled and compared", `${twice("[[1]]", 40)} == ${twice("[[1]]", 40)}`],
    ["values that are doubled and searched", `${twice("[[1]]", 40)} in [${twice("[[1]]", 40)}]`],
    [
      "objects that are doubled and compared",
      `${twice("[1]", 40, "{'x': x, 'y': x}")} == ${twice("[1]", 40, "{'x': x, 'y': x}")}`
    ],
    ["macros in macros", "value.list.all(x, value.list.all(y, x + y >= 0.0))"],
    ["macros in macros in macros", "value.list.all(x, value.list.all(y, value.list.all(z, x + y + z >= 0.0)))"],
    ["a map that is gone through again and again", "value.list.all(x, value.keys.exists(key, true))"],
    ["errors that are passed over", "value.list.all(x, value.list.exists(y, y.nothing))"],
    ["errors on the left of an or", "value.list.all(x, value.list.all(y, y.nothing || true))"],
    ["a list that is searched again and again", "value.list.all(x, !(-1.0 in value.list))"],
    ["a list that is compared again and again", "value.list.all(x, value.list == value.list + [])"],
    ["a text that is searched again and again", "value.list.all(x, value.text.contains('aaab') == false)"],
    ["a text that is searched for a long one", "!value.text.contains('b' + value.text.substring(1000))"],
    ["a text that is split again and again", "value.list.all(x, value.text.split('').size() > 0)"],
    ["texts that are compared again and again", "value.list.all(x, value.text == value.more[0])"],
    ["texts in a list that are compared again and again", "value.list.all(x, [value.text] == value.more)"],
    ["texts that are joined by a long one", "value.list.map(x, 'a').join(value.text) != ''"],
    ["digits that are no duration", "duration(value.text.upperAscii().split('').map(a, '1').join()) > duration('1s')"],
    [
      "short digits that are no duration, again and again",
      `value.list.exists(x, duration('${"1".repeat(100)}') > duration('1s'))`
    ],
    ["times in a time zone", "value.list.all(x, timestamp(int(x)).getHours('Europe/Berlin') >= 0)"],
    ["a deep value that is looked at again and again", "value.list.all(x, value.deep != x)"],
    [
      "JSON that is read again and again",
      "value.list.all(x, bytes('[' + value.text.substring(100000).split('').map(a, '1').join(',') + ']').json().size() >= 0)"
    ]
  ])("ends soon, with an error: %s", ([, expression]) =>
    Effect.map(Effect.flip(holds(expression, much)), (error) => {
      expect(error).toMatchObject({ _tag: "ExpressionFailed", node: "if" })
      expect(error.message).toMatch(/failed: It takes more than 1000000 steps\.$/)
    })
  )

  it.effect("has types that end somewhere", () =>
    Effect.gen(function* () {
      // The name of the type of each is twice as long as that of the one before.
      for (const of of ["{x: x}", "{'a': x, x: 'a'}", "[x]", "optional.of(x)"]) {
        expect(yield* holds(`${twice("[1]", 80, of)}.size() == 1`, 1)).toBe(true)
      }
    })
  )

  it.effect.each([
    "value.list.all(x, x >= 0 && x < 3000.0 && x * 2 != 1) && value.list.filter(x, x > 10).map(x, x + 1).size() == 2989",
    "value.list.exists(x, x.nothing) || value.list.size() == 3000",
    "value.list == value.list && 2999 in value.list && value.list + value.list != []",
    "value.text.contains('aaa') && !value.text.contains('word') && (value.text + value.text).size() == 400000",
    "value.list.map(x, string(x)).join(', ').split(', ').size() == 3000",
    "value.list.filter(x, x < 50).all(x, value.list.filter(y, y < 50).exists(y, x == y))",
    "[1, 2].all(x, [3].all(y, [4].all(z, x + y + z < 10)))"
  ])("may take what is not too much, each time that it is evaluated: %s", (expression) =>
    Effect.gen(function* () {
      for (let i = 0; i < 5; i++) expect(yield* Effect.either(holds(expression, much))).toEqual(Either.right(true))
    })
  )

  it.effect("of a loop sees the rounds done", () =>
    Effect.gen(function* () {
      const loop = { type: "loop", name: "loop", body: step("one", "inc"), max: 9 }
      expect(yield* run(of({ ...loop, while: "round < 3" }), 0)).toBe(3)
      expect(yield* run(of({ ...loop, until: "round == 4 && round % 2 == 0" }), 0)).toBe(4)
      expect(yield* run(of({ ...loop, onMax: "stop" }), 0)).toBe(9)
      expect(yield* Effect.flip(run(of({ ...loop, while: "value >= 0" }), 0))).toMatchObject({
        _tag: "LoopLimitReached",
        value: 9
      })
    })
  )
})

describe("what stands around a node", () => {
  it.effect("is applied in one order: timeout of an attempt, retry, onError", () =>
    Effect.gen(function* () {
      let attempts = 0
      const functions = {
        slow: () => Effect.suspend(() => (attempts++, Effect.never)),
        same: (input: unknown) => input
      }
      const node = {
        type: "step",
        name: "slow",
        function: "slow",
        timeout: "10 seconds",
        retry: { times: 3, delay: "1 second", factor: 2, maxDelay: 3000 },
        onError: "skip"
      }
      const fiber = yield* Effect.fork(run(of(node), "input", { functions }))
      // 10 + 1 + 10 + 2 + 10 + 3 (not 4) + 10
      yield* TestClock.adjust("45 seconds")
      expect(attempts).toBe(4)
      expect(yield* Fiber.poll(fiber)).toEqual(Option.none())
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toBe("input")

      const failing = { ...node, retry: { times: 0 }, onError: "fail" }
      const failed = yield* Effect.fork(Effect.flip(run(of(failing), "input", { functions })))
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(failed)).toMatchObject({ _tag: "NodeTimeout", node: "slow", after: 10_000 })
    })
  )

  it.effect("tries three times more unless it is said how often, after the same delay each time", () =>
    Effect.gen(function* () {
      let attempts = 0
      const functions = { refuse: () => Effect.suspend(() => (attempts++, Effect.fail("no"))) }
      const now = { ...step("a", "refuse"), retry: {} }
      yield* Effect.flip(run(of(now), 1, { functions }))
      expect(attempts).toBe(4)
      const later = { ...now, retry: { times: 2, delay: 1000 } }
      const fiber = yield* Effect.fork(Effect.flip(run(of(later), 1, { functions })))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      expect(attempts).toBe(7)
    })
  )

  it.effect("can deal with an each of what is no array", () =>
    Effect.gen(function* () {
      const each = { type: "each", name: "all", body: step("one") }
      for (const input of ["text", null, undefined, { length: 1 }]) {
        const error = yield* Effect.flip(run(of(each), input))
        expect(error).toMatchObject({ _tag: "ExpressionFailed", node: "all", expression: "value" })
        expect(error.message).toMatch(/^The expression `value` of "all" failed: It gave \w+, not an array\.$/)
      }
      expect(yield* run(of({ ...each, onError: "skip" }), "text")).toBe("text")
      const fallback = { ...step("else", "inc"), name: "else" }
      expect(yield* run(of({ ...each, retry: { times: 1 }, onError: { fallback } }), 1)).toBe(2)
      expect(yield* run(of({ ...each, onError: "skip" }), [1])).toEqual([1])
    })
  )

  it.effect("can deal with what cannot be a prompt, whether one is written or not", () =>
    Effect.gen(function* () {
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      for (const prompt of [{}, { prompt: "value.x" }]) {
        const agent = { type: "agent", name: "ask", agent: "writer", ...prompt }
        const error = yield* Effect.flip(run(of(agent), circle))
        expect(error).toMatchObject({ _tag: "ExpressionFailed", node: "ask" })
        expect(error.message).toContain("circular")
        expect(yield* run(of({ ...agent, onError: "skip" }), circle)).toBe(circle)
      }
    })
  )
})

describe("a sequence", () => {
  it.effect("without a name is told by what is in it, if there is something around it", () =>
    Effect.gen(function* () {
      const definition = of(
        {
          type: "sequence",
          nodes: [
            { type: "sequence", nodes: [step("a")], retry: { times: 1 } },
            {
              type: "sequence",
              nodes: [
                { type: "workflow", workflow: "w" },
                { type: "sequence", nodes: [step("b"), step("c")] }
              ],
              timeout: 5
            },
            { type: "sequence", nodes: [step("d"), step("e")] }
          ]
        },
        { workflows: { w: { name: "called", node: step("a") } } }
      )
      const workflow = yield* WorkflowDefinition.compile(definition, registry)
      const events = yield* Stream.runCollect(Workflow.stream(workflow, 1, { sessionId: "s" }))
      const started = [...events].flatMap((event) => (event._tag === "NodeStarted" ? [event.path.join(" / ")] : []))
      expect(started).toEqual([
        "sequence of a",
        "sequence of a / a",
        "called → b → c",
        "called → b → c / called",
        "called → b → c / called / a",
        "called → b → c / b",
        "called → b → c / c",
        "d",
        "e"
      ])
      const twice = [{ type: "sequence", nodes: [step("a"), step("b")], onError: "skip" }, step("a → b")]
      expect(yield* problemsOf(of({ type: "sequence", nodes: twice }))).toEqual([
        'node.nodes[1].name: "a → b" is the name of node.nodes[0], too; a name is used once in a workflow'
      ])
    }).pipe(Effect.provide(Layer.merge(HistoryStore.layerMemory(), echo)))
  )

  it.effect("of one node is not that node", () =>
    Effect.gen(function* () {
      const inner = { ...step("inner", "refuse"), onError: "skip", history: { mode: "on" } }
      const workflow = yield* WorkflowDefinition.compile(
        of({ type: "sequence", name: "outer", nodes: [inner], history: { mode: "off" } }),
        registry
      )
      const store = yield* HistoryStore.HistoryStore
      yield* Workflow.run(workflow, 1, { sessionId: "s" })
      const [record] = yield* store.last("s", 1, ["completed"])
      expect(record?.steps.map(({ path }) => path)).toEqual([["outer", "inner"]])
      // The step wants history, so there is none without a session.
      const outside = Workflow.run(workflow, 1, {} as Workflow.SessionOptions)
      expect(yield* Effect.flip(outside)).toMatchObject({ _tag: "InvalidSession" })
    }).pipe(Effect.provide(Layer.merge(HistoryStore.layerMemory(), echo)))
  )
})

describe("options of an agent's run", () => {
  const asking = (options: object) => of({ type: "agent", name: "draft", agent: "writer", options })
  const reading = {
    agents: {
      writer: Agent.make({
        name: "writer",
        handlers: Handler.beforeAgent((run: AgentRun.RunConfig) =>
          Handler.finish(`${run.options.maxSteps} ${String(run.options.metadata["tone"])}`)
        )
      })
    },
    agentOptions: [
      {
        keys: ["steps"],
        read: ({ steps }) =>
          typeof steps === "number"
            ? Effect.succeed({ maxSteps: steps })
            : Effect.fail({ problems: ["steps: expected a number"] })
      },
      {
        keys: ["tone"],
        read: ({ tone }) => {
          if (tone === "thrown") throw new Error("no tone")
          return tone === "rude" ? Effect.fail({ problems: ["tone: not now"] }) : Effect.succeed({ metadata: { tone } })
        }
      }
    ]
  } satisfies WorkflowDefinition.Registry

  it.effect("are what the registry makes of what the step says", () =>
    Effect.gen(function* () {
      expect(yield* run(asking({ steps: 3, tone: "kind" }), "x", reading)).toBe("3 kind")
      const inner = {
        name: "test",
        node: { type: "workflow", workflow: "one" },
        workflows: { one: { node: { type: "sequence", nodes: [asking({ steps: 4 }).node] } } }
      }
      expect(yield* run(inner, "x", reading)).toBe("4 undefined")
      expect(yield* run(of({ type: "agent", name: "draft", agent: "writer" }), "x", reading)).toBe("50 undefined")
    })
  )

  it.effect("that are wrong are told with everything else", () =>
    Effect.gen(function* () {
      const wrong = {
        type: "sequence",
        nodes: [asking({ steps: "two", tone: "rude", tune: 1 }).node, step("b", "sme")]
      }
      expect(yield* problemsOf(of(wrong), { ...registry, ...reading })).toEqual([
        expect.stringContaining("node.nodes[1].function: "),
        "node.nodes[0].options: steps: expected a number",
        "node.nodes[0].options: tone: not now",
        'node.nodes[0].options: unknown key "tune": there are "steps", "tone"; is "tone" meant?'
      ])
      expect((yield* problemsOf(asking({ tone: "thrown" }), reading)).join()).toContain("no tone")
      expect(yield* problemsOf(asking({ steps: 3 }))).toEqual(['node.options: unknown key "steps": there are none'])
      expect((yield* problemsOf(asking([]), reading)).join()).toContain("node.options")
    })
  )
})

describe("a YAML text with one of everything", () => {
  const text = `
# Comments are for people.
name: everything
maxNodes: 500
onHistoryUnavailable: continue
history: { mode: "on", runs: 2, statuses: [completed, failed] }
workflows:
  polish:
    history: { runs: 1 }
    node: { type: agent, name: polisher, agent: writer }
  shout:
    name: SHOUT
    node: { type: sequence, nodes: [{ type: step, name: upper, function: upper }, { type: workflow, workflow: polish }] }
node:
  type: sequence
  name: all
  history: { format: { header: "<past>", footer: "</past>" } }
  nodes:
    - type: condition
      name: given
      if: has(value.topic)
      then: { type: step, name: topic, function: topic }
      else: { type: step, name: none, function: refuse }
    - type: parallel
      name: drafts
      concurrency: 1
      branches:
        short: { type: agent, name: short, agent: writer, prompt: "'Short: ' + value" }
        long: { type: agent, name: long, agent: writer, history: { mode: "off" } }
        bad: { type: step, name: bad, function: refuse, retry: { times: 1 }, timeout: 1 minute }
      settlement: { atLeast: 2 }
    - { type: step, name: values, function: values }
    - type: each
      name: polished
      settlement: fail-fast
      concurrency: 1
      body: { type: workflow, workflow: polish }
    - type: loop
      name: fewer
      body: { type: step, name: drop, function: drop }
      while: size(value) > 1
      max: 5
    - type: router
      name: route
      choose: "size(value) == 1 ? 'one' : 'many'"
      routes:
        one: { type: workflow, workflow: shout, name: loud }
        many: { type: step, name: many, function: refuse, onError: { fallback: { type: step, name: rest, function: drop } } }
    - { type: step, name: checked, function: refuse, onError: skip }
`
  const parts = {
    agents: { writer },
    functions: {
      upper: (input: unknown) => String(input).toUpperCase(),
      topic: (input: unknown) => (input as { readonly topic: string }).topic,
      values: (input: unknown) => Object.values(input as object),
      drop: (input: unknown) => (input as ReadonlyArray<unknown>).slice(1),
      refuse: (value: unknown) => Effect.fail(new Refused({ value }))
    }
  }

  it.effect("compiles and runs, with the history of its session", () =>
    Effect.gen(function* () {
      const workflow = yield* WorkflowDefinition.fromText(text, parts)
      expect(workflow.name).toBe("everything")
      expect(workflow.maxNodes).toBe(500)
      const model = yield* ScriptedModel.make(({ history }) => `re: ${Message.text(history.at(-1)!)}`)
      const runOf = (topic: string) =>
        Effect.provide(Workflow.run(workflow, { topic }, { sessionId: "s" }), model.layer)

      const first = yield* runOf("looms")
      // long → values → polished → upper → polished
      expect(first.output).toBe("re: RE: RE: LOOMS")
      expect((yield* runOf("yarn")).output).toBe("re: RE: RE: YARN")
      const store = yield* HistoryStore.HistoryStore
      const records = yield* store.last("s", Infinity, ["completed", "failed", "cancelled"])
      expect(records.map(({ status }) => status)).toEqual(["completed", "completed"])
      expect(records[0]!.steps.map(({ path }) => path.join("/"))).toContain("all/drafts/short")

      const said = (yield* model.requests).slice(5).map(({ instructions }) => Instructions.render(instructions))
      const sees = said.map((text) => text.includes("<past>") || text.includes("looms"))
      // short, long (off), polished twice, polisher of loud
      expect(sees).toEqual([true, false, true, true, true])
    }).pipe(Effect.provide(HistoryStore.layerMemory()))
  )

  it.effect("goes other ways with other input", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Effect.flatMap(WorkflowDefinition.fromText(text, parts), (workflow) =>
          Workflow.run(workflow, {}, { sessionId: "s" })
        )
      )
      expect(error).toEqual(new Refused({ value: {} }))
    }).pipe(Effect.provide(Layer.merge(HistoryStore.layerMemory(), echo)))
  )
})

describe("a text", () => {
  const problems = (text: string) =>
    Effect.map(Effect.flip(WorkflowDefinition.parse(text)), ({ problems }) => problems.map(({ message }) => message))

  it.effect("may be JSON or YAML", () =>
    Effect.gen(function* () {
      expect(yield* WorkflowDefinition.parse('{ "a": [1, true, null,\n\t"x"] }')).toEqual({ a: [1, true, null, "x"] })
      expect(yield* WorkflowDefinition.parse("a:\n  - 1\n  - yes\n  - ~\nb: &x [1]\nc: *x")).toEqual({
        a: [1, "yes", null],
        b: [1],
        c: [1]
      })
      expect(yield* WorkflowDefinition.parse("")).toBe(null)
    })
  )

  it.effect("that is none is told by line and column", () =>
    Effect.gen(function* () {
      expect(yield* problems("a: 1\nb: [1\nc: 2")).toEqual([
        "Flow sequence in block collection must be sufficiently indented and end with a ] at line 3, column 1"
      ])
      expect(yield* problems("a: 1\nb:\n  c: 1\n  c: 2\na: 3")).toEqual([
        "Map keys must be unique at line 4, column 3",
        "Map keys must be unique at line 5, column 1"
      ])
      expect(yield* problems('{"a": 1, "a": 2}')).toEqual(["Map keys must be unique at line 1, column 10"])
      expect(yield* problems("a: !!js/function x")).toEqual([
        "Unresolved tag: tag:yaml.org,2002:js/function at line 1, column 4"
      ])
      expect(yield* problems("a: 1\n---\nb: 2")).toEqual(["one document is expected, and there are 2"])
      expect(yield* problems("a: *b")).toEqual(["Unresolved alias (the anchor must be set before the alias): b"])
    })
  )

  it.effect("that means harm is refused", () =>
    Effect.gen(function* () {
      const bomb = Array.from({ length: 9 }, (_, i) =>
        i === 0 ? "a0: &a0 [x, x, x, x, x]" : `a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join()}]`
      )
      expect(yield* problems(bomb.join("\n"))).toEqual(["Excessive alias count indicates a resource exhaustion attack"])
      for (const deep of ["[", "{a: ", "- ", "? ", '{"node":']) {
        expect(yield* problems(deep.repeat(10_000))).toEqual(["too deep: more than 400 levels of values in values"])
      }
      expect(yield* problems("x".repeat(100_001))).toEqual(["too large: more than 100000 characters"])
      const aliases = Array.from({ length: 501 }, (_, i) => `&a${i} 1, *a${i}`)
      expect(yield* problems(`[${aliases.join()}]`)).toEqual(["too many aliases: more than 500"])
      expect(yield* WorkflowDefinition.parse(`[${aliases.slice(1).join()}]`)).toHaveLength(1000)
    })
  )

  it.effect("of many mistakes is told by the first of them", () =>
    Effect.gen(function* () {
      for (const wrong of ["&a ", "!a ", "]", "%a\n"]) {
        const found = yield* problems(wrong.repeat(Math.floor(100_000 / wrong.length)))
        expect(found).toHaveLength(21)
        expect(found.at(-1)).toMatch(/^and (\d+ more|more, which are not looked for)$/)
      }
      const keys = (times: number) => Array.from({ length: times }, (_, i) => `k${i % 5000}: 1\n`).join("")
      expect(yield* WorkflowDefinition.parse(keys(5000))).toMatchObject({ k0: 1, k4999: 1 })
      const found = yield* problems(keys(10_000))
      expect(found).toHaveLength(21)
      expect(found[0]).toBe("Map keys must be unique at line 5001, column 1")
      expect(found.at(-1)).toBe("and 4980 more")
      const dashes = yield* problems("- ".repeat(49_999))
      expect(dashes).toEqual(["too deep: more than 400 levels of values in values"])
    })
  )

  it.effect("has keys that are keys of an object", () =>
    Effect.gen(function* () {
      expect(yield* problems('1: a\n"1": b')).toEqual(["Map keys must be unique at line 2, column 1"])
      expect(yield* problems('[{ a: { b: 1 }, "a": 2 }]')).toEqual(["Map keys must be unique at line 1, column 17"])
      expect(yield* WorkflowDefinition.parse("a: { a: 1 }\nb: [{ a: 1 }, { a: 2 }]")).toEqual({
        a: { a: 1 },
        b: [{ a: 1 }, { a: 2 }]
      })
    })
  )

  it.effect("with both kinds of mistake tells of the text first", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(WorkflowDefinition.fromText("name: 1\nname: 2", registry))
      expect(error.message).toBe("The definition is no workflow:\n- Map keys must be unique at line 2, column 1")
      expect((yield* Effect.flip(WorkflowDefinition.fromText("name: 1", registry))).problems).toHaveLength(2)
      const nothing = yield* Effect.flip(WorkflowDefinition.fromText("", registry))
      expect(nothing.message).toBe("The definition is no workflow:\n- must be an object, and is nothing")
    })
  )
})

describe("the schema", () => {
  it("decodes a definition to itself", () => {
    const definition: WorkflowDefinition.WorkflowDefinition = {
      name: "a",
      node: { type: "step", name: "b", function: "same", timeout: "1 second" }
    }
    expect(Schema.decodeUnknownSync(WorkflowDefinition.WorkflowDefinition)(definition)).toEqual(definition)
  })

  it("is a JSON Schema, too", () => {
    expect(WorkflowDefinition.jsonSchema).toMatchObject({
      $ref: "#/$defs/WorkflowDefinition",
      $defs: {
        WorkflowDefinition: { required: ["name", "node"], additionalProperties: false },
        Node: { anyOf: expect.arrayContaining([expect.objectContaining({ required: ["type", "name", "agent"] })]) }
      }
    })
  })
})

// -----------------------------------------------------------------------------
// data and code
// -----------------------------------------------------------------------------

describe("a definition does what it says", () => {
  type Small = WorkflowDefinition.NodeDefinition
  type Outcome = Exit.Exit<unknown, string>

  /** All numbers in a value, so that a step can take anything. */
  const total = (value: unknown): number =>
    typeof value === "number"
      ? value
      : Exit.isExit(value)
        ? total(Exit.getOrElse(value, () => 0))
        : typeof value === "object" && value !== null
          ? Object.values(value).reduce((sum: number, part) => sum + total(part), 0)
          : 0
  const functions: Record<string, (input: unknown) => unknown> = {
    inc: (input) => total(input) + 1,
    list: (input) => [total(input), total(input) + 1],
    odd: (input) => (total(input) % 2 === 1 ? input : Effect.fail(new Refused({ value: input })))
  }

  const small: FastCheck.Arbitrary<Small> = FastCheck.letrec<{ node: Small }>((tie) => {
    const node = tie("node")
    const onError = FastCheck.option(
      FastCheck.oneof(
        FastCheck.constant("skip" as const),
        node.map((fallback) => ({ fallback }))
      ),
      { nil: "fail" as const }
    )
    const less = FastCheck.nat(6).map((n) => `value < ${n}`)
    const name = FastCheck.constant("")
    const branches = FastCheck.dictionary(FastCheck.constantFrom("a", "b", "__proto__"), node, {
      minKeys: 1,
      maxKeys: 3
    })
    const settlement = FastCheck.constantFrom("fail-fast", "settle", { atLeast: 1 })
    const is = <const T extends string>(type: T) => FastCheck.constant(type)
    const inner = FastCheck.oneof(
      FastCheck.record({ type: is("sequence"), nodes: FastCheck.array(node, { minLength: 1, maxLength: 3 }) }),
      FastCheck.record({ type: is("condition"), name, if: less, then: node, else: node }),
      FastCheck.record({ type: is("condition"), name, if: less, then: node }),
      FastCheck.record({
        type: is("loop"),
        name,
        body: node,
        while: less,
        max: FastCheck.integer({ min: 1, max: 3 }),
        onMax: FastCheck.constantFrom("fail", "stop")
      }),
      FastCheck.record({ type: is("loop"), name, body: node, until: less, max: FastCheck.constant(2) }),
      FastCheck.record({ type: is("parallel"), name, branches, settlement }),
      FastCheck.record({
        type: is("router"),
        name,
        choose: less.map((less) => `${less} ? 'a' : 'b'`),
        routes: branches
      })
    )
    const leaf = FastCheck.record({
      type: is("step"),
      name,
      function: FastCheck.constantFrom("inc", "odd", "list")
    })
    const each = FastCheck.record({ type: is("each"), name, body: node, settlement }).map((each) => ({
      type: "sequence" as const,
      nodes: [{ type: "step" as const, name, function: "list" }, each].map((node) => ({ ...node, name: "" }))
    }))
    const bare = FastCheck.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      inner,
      each as FastCheck.Arbitrary<never>
    )
    return {
      node: FastCheck.tuple(bare, onError).map(([node, onError]) => ({ ...node, onError }) as Small)
    }
  }).node

  /** Gives every node a name of its own. */
  const numbered = (node: unknown, count = { nodes: 0 }): unknown => {
    if (Array.isArray(node)) return node.map((item) => numbered(item, count))
    if (typeof node !== "object" || node === null) return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, numbered(value, count)]))
    return "name" in copy ? { ...copy, name: `n${count.nodes++}` } : copy
  }

  /** What a node means, said once more and as plainly as can be. */
  const meaning = (node: Small, input: unknown): Outcome => {
    const outcome = bare(node, input)
    if (Exit.isSuccess(outcome) || node.onError === "fail" || node.onError === undefined) return outcome
    return node.onError === "skip" ? Exit.succeed(input) : meaning(node.onError.fallback, input)
  }
  /** `value < n` of something. */
  const holds = (text: string, value: unknown): Exit.Exit<boolean, string> =>
    typeof value === "number" ? Exit.succeed(value < Number(/\d+/.exec(text)![0])) : Exit.fail("ExpressionFailed")
  const settle = (outcomes: ReadonlyArray<Outcome>, settlement: unknown): Exit.Exit<ReadonlyArray<unknown>, string> => {
    if (settlement === "settle") return Exit.succeed(outcomes)
    const failed = outcomes.find(Exit.isFailure)
    if (settlement === "fail-fast") {
      if (failed !== undefined) return Exit.failCause(failed.cause)
      return Exit.succeed(outcomes.map((outcome) => Exit.getOrElse(outcome, () => undefined)))
    }
    if (!outcomes.some(Exit.isSuccess)) return Exit.fail("TooFewSucceeded")
    return Exit.succeed(
      outcomes.map((outcome) => (Exit.isSuccess(outcome) ? Option.some(outcome.value) : Option.none()))
    )
  }
  const bare = (node: Small, input: unknown): Outcome => {
    switch (node.type) {
      case "step":
        if (node.function === "odd" && total(input) % 2 !== 1) return Exit.fail("Refused")
        return Exit.succeed(functions[node.function]!(input))
      case "sequence":
        return node.nodes.reduce<Outcome>(
          (before, next) => Exit.flatMap(before, (value) => meaning(next, value)),
          Exit.succeed(input)
        )
      case "condition":
        return Exit.flatMap(holds(node.if, input), (yes) =>
          yes ? meaning(node.then, input) : node.else === undefined ? Exit.succeed(input) : meaning(node.else, input)
        )
      case "loop": {
        let value = input
        for (let round = 0; ; round++) {
          const on = node.while === undefined ? Exit.succeed(true) : holds(node.while, value)
          if (Exit.isFailure(on)) return on
          if (!on.value) return Exit.succeed(value)
          if (round === node.max) return node.onMax === "stop" ? Exit.succeed(value) : Exit.fail("LoopLimitReached")
          const next = meaning(node.body, value)
          if (Exit.isFailure(next)) return next
          value = next.value
          const ends = node.until === undefined ? Exit.succeed(false) : holds(node.until, value)
          if (Exit.isFailure(ends)) return ends
          if (ends.value) return Exit.succeed(value)
        }
      }
      case "parallel": {
        const names = Object.keys(node.branches)
        const outcomes = names.map((name) => meaning(node.branches[name]!, input))
        return Exit.map(settle(outcomes, node.settlement), (results) => {
          const pairs = names.map((name, i) => [name, results[i]] as const)
          const partial = typeof node.settlement === "object"
          return Object.fromEntries(
            partial
              ? pairs.flatMap(([name, result]) =>
                  Option.match(result as Option.Option<unknown>, {
                    onNone: () => [],
                    onSome: (value) => [[name, value]]
                  })
                )
              : pairs
          )
        })
      }
      case "each":
        return settle(
          (input as ReadonlyArray<unknown>).map((item) => meaning(node.body, item)),
          node.settlement
        )
      case "router":
        return Exit.flatMap(holds(node.choose, input), (yes) => {
          const route = Object.entries(node.routes).find(([name]) => name === (yes ? "a" : "b"))
          return route === undefined ? Exit.fail("UnknownRoute") : meaning(route[1], input)
        })
      default:
        throw new Error("not among the small ones")
    }
  }

  /** Exits with nothing of an error but its tag. */
  const plain = (value: unknown): unknown => {
    if (Exit.isExit(value)) {
      return Exit.isSuccess(value) ? { value: plain(value.value) } : { error: tag(Cause.squash(value.cause)) }
    }
    if (Option.isOption(value)) return Option.map(value, plain)
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== "object" || value === null) return value
    return Object.entries(value).map(([key, part]) => [key, plain(part)])
  }
  const tag = (error: unknown) => (typeof error === "string" ? error : (error as { readonly _tag: string })._tag)

  it.effect.prop("as a tiny interpreter of it would", [small, FastCheck.nat(6)], ([node, input]) =>
    Effect.gen(function* () {
      const workflow = yield* WorkflowDefinition.compile(of(numbered(node)), { functions })
      const exit = yield* Effect.exit(
        Effect.map(Workflow.run(workflow, input, { sessionId: "s" }), ({ output }) => output)
      )
      expect(plain(exit)).toEqual(plain(meaning(node, input)))
    }).pipe(Effect.provide(HistoryStore.layerMemory()) as never)
  )
})

describe("the types", () => {
  class Db extends Context.Tag("Db")<Db, number>() {}
  class Broken extends Data.TaggedError("Broken")<object> {}
  type WorkflowOf<T> = T extends Effect.Effect<infer W, infer _E, infer _R> ? W : never

  it("of errors and needs are read off the registry", () => {
    const full = {
      agents: { writer },
      functions: {
        plain: () => 1,
        needs: (): Effect.Effect<number, Broken, Db> => Db,
        fails: () => Effect.fail(new Refused({ value: 1 }))
      }
    }
    const compiled = WorkflowDefinition.compile({}, full)
    type Full = WorkflowOf<typeof compiled>
    expectTypeOf<Full>().toEqualTypeOf<
      Workflow.Workflow<
        unknown,
        unknown,
        | Errors.ModelError
        | Errors.ToolError
        | Errors.StepLimitReached
        | Broken
        | Refused
        | WorkflowDefinition.DefinedError,
        ChatModel.ChatModel | Db | HistoryStore.HistoryStore
      >
    >()
    expectTypeOf(compiled).toExtend<Effect.Effect<unknown, WorkflowErrors.InvalidDefinition>>()
  })

  it("of a registry with nothing in it are those of the engine alone", () => {
    const none = WorkflowDefinition.fromText("", {})
    expectTypeOf<WorkflowOf<typeof none>>().toEqualTypeOf<
      Workflow.Workflow<unknown, unknown, WorkflowDefinition.DefinedError, HistoryStore.HistoryStore>
    >()
    const plain = WorkflowDefinition.compile({}, { functions: { same: (input) => input } })
    expectTypeOf<WorkflowOf<typeof plain>>().toEqualTypeOf<WorkflowOf<typeof none>>()
    expectTypeOf<WorkflowDefinition.Error<WorkflowDefinition.Registry>>().toEqualTypeOf<unknown>()
    // @ts-expect-error -- a function takes what comes
    const wrong = WorkflowDefinition.compile({}, { functions: { inc: (input: number) => input + 1 } })
    expectTypeOf(wrong).toBeObject()
  })
})
