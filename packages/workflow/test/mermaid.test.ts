import { Agent } from "@heddle/core"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Node, Workflow } from "../src/index.ts"

// -----------------------------------------------------------------------------
// one of everything
// -----------------------------------------------------------------------------

const agent = Agent.make({ name: "agent" })
const step = (name: string) => Node.step(name, (text: string) => text)
const writer = (name: string) => Node.agent(name, agent)

const inner = Workflow.make({ name: "inner", node: step("inside"), history: { mode: "off" } })

const everything = Workflow.make({
  name: "everything",
  history: { mode: "on" },
  node: Node.sequence(
    step("brief").pipe(Node.withHistory({ runs: "all" }), Node.retry({ times: 2 }), Node.timeout("30 seconds")),
    Node.sequence(step("collect").pipe(Node.orSkip), step("sort").pipe(Node.withHistory({ mode: "off" }))).pipe(
      Node.withName("prepare")
    ),
    Node.condition("long?", { if: (text: string) => text.length > 80, onTrue: writer("shorten") }),
    Node.condition("good?", { if: () => true, onTrue: step("keep"), onFalse: step("drop") }),
    Node.loop("polish", writer("improve"), { until: () => true, max: 3, onMax: "stop" }),
    Node.parallel("draft", {
      news: writer("draft news").pipe(Node.withHistory({ runs: 1, statuses: ["completed", "failed"] })),
      story: writer("draft story")
    }).pipe(Node.orElse(() => ({ news: "", story: "" }))),
    Node.step("both", ({ news, story }: { news: string; story: string }) => [news, story]),
    Node.each("spell", step("check")),
    Node.step("join", (texts: ReadonlyArray<string>) => texts.join("\n")),
    Node.router("format", { choose: () => "plain" as const, routes: { plain: step("text"), rich: step("page") } }).pipe(
      Node.orElse(step("raw"))
    ),
    inner,
    step("send").pipe(Node.andThen(step("log")), Node.retry({ times: 1 }))
  )
})

const expected = `flowchart TD
  n1("start: everything")
  n2["brief<br/>retry 2×<br/>timeout 30s<br/>history: all"]
  subgraph n3["sequence prepare"]
    n4["collect<br/>skip on failure<br/>history: 3 runs"]
    n5["sort<br/>history: off"]
  end
  n6{"long?"}
  n7(["shorten<br/>history: 3 runs"])
  n8{"good?"}
  n9["keep<br/>history: 3 runs"]
  n10["drop<br/>history: 3 runs"]
  n11>"polish"]
  subgraph n12["polish, each round"]
    n13(["improve<br/>history: 3 runs"])
  end
  n14[/"draft<br/>fallback"\\]
  n15(["draft news<br/>history: 1 run (completed, failed)"])
  n16(["draft story<br/>history: 3 runs"])
  n17[\\"join of draft"/]
  n18["both<br/>history: 3 runs"]
  n19[/"spell"/]
  subgraph n20["spell, for each"]
    n21["check<br/>history: 3 runs"]
  end
  n22["join<br/>history: 3 runs"]
  n23{{"format"}}
  n24["text<br/>history: 3 runs"]
  n25["page<br/>history: 3 runs"]
  n26["raw<br/>history: 3 runs"]
  subgraph n27["workflow inner, history: off"]
    n28["inside"]
  end
  subgraph n29["sequence send #8594; log, retry 1×"]
    n30["send<br/>history: 3 runs"]
    n31["log<br/>history: 3 runs"]
  end
  n32("end")
  n1 --> n2
  n2 --> n4
  n4 --> n5
  n5 --> n6
  n6 -->|"true"| n7
  n7 --> n8
  n6 -->|"false"| n8
  n8 -->|"true"| n9
  n8 -->|"false"| n10
  n9 --> n11
  n10 --> n11
  n11 --> n13
  n13 -->|"≤ 3"| n11
  n11 -->|"done"| n14
  n14 -->|"news"| n15
  n14 -->|"story"| n16
  n15 --> n17
  n16 --> n17
  n17 --> n18
  n18 --> n19
  n19 --> n21
  n21 --> n22
  n22 --> n23
  n23 -->|"plain"| n24
  n23 -->|"rich"| n25
  n23 -.->|"on failure"| n26
  n24 --> n28
  n25 --> n28
  n26 --> n28
  n28 --> n30
  n30 --> n31
  n31 --> n32`

// -----------------------------------------------------------------------------
// reading a drawing
// -----------------------------------------------------------------------------

// What a label may have in it: nothing of a name can end it, nor mean anything to Mermaid, Markdown or HTML.
const label = String.raw`"((?:[\p{L}\p{N}\p{M} ,?!/'≤×:()]|(?<=[\p{L}\p{N}])[-._](?=[\p{L}\p{N}])|#\d+;|<br/>)*)"`
const lines = {
  node: new RegExp(String.raw`^ +(n\d+)(?:\(|\(\[|\[|\{|\{\{|>|\[/|\[\\)${label}(?:\)|\]\)|\]|\}|\}\}|/\]|\\\])$`, "u"),
  frame: new RegExp(String.raw`^ +subgraph (n\d+)\[${label}\]$`, "u"),
  end: /^ +end$/,
  edge: new RegExp(String.raw`^  (n\d+) -(?:-|\.-)>(?:\|${label}\|)? (n\d+)$`, "u")
}

interface Read {
  readonly nodes: Array<string>
  readonly frames: Array<string>
  readonly edges: Array<readonly [from: string, to: string]>
  readonly labels: Array<string>
  /** How many frames are open after each line. */
  readonly open: Array<number>
  readonly strange: Array<string>
}

const decode = (text: string) => text.replace(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))

const read = (text: string): Read => {
  const out: Read = { nodes: [], frames: [], edges: [], labels: [], open: [], strange: [] }
  const [head, ...rest] = text.split("\n")
  if (head !== "flowchart TD") out.strange.push(head!)
  for (const line of rest) {
    const [node, frame, edge] = [lines.node.exec(line), lines.frame.exec(line), lines.edge.exec(line)]
    if (node !== null) out.nodes.push(node[1]!)
    else if (frame !== null) out.frames.push(frame[1]!)
    else if (edge !== null) out.edges.push([edge[1]!, edge[3]!])
    else if (!lines.end.test(line)) out.strange.push(line)
    const said = node?.[2] ?? frame?.[2] ?? edge?.[2]
    if (said !== undefined) out.labels.push(decode(said))
    out.open.push((out.open.at(-1) ?? 0) + (frame !== null ? 1 : lines.end.test(line) ? -1 : 0))
  }
  return out
}

// -----------------------------------------------------------------------------
// any workflow
// -----------------------------------------------------------------------------

const hostile = [
  "end",
  "__proto__",
  "constructor",
  'a"]',
  '"] --> n1["',
  "]\n  n1 --> n99\n%%",
  "subgraph x",
  "%%{init: {}}%%",
  "click n1 href",
  "style n1 fill:#f00;",
  "`**bold**`",
  "1. one",
  "- one",
  "<script>alert(1)</script>",
  "&quot;",
  "#quot;",
  "#34;",
  "$$x$$",
  "fa:fa-ban",
  "日本語 🐦",
  "\u2028",
  "\ud800",
  "\\",
  "|",
  "---\ntitle: x\n---"
]

const name = FastCheck.oneof(FastCheck.constantFrom(...hostile), FastCheck.string({ unit: "binary", maxLength: 8 }))

type Any = Node.Node<string, string, never, never>

/** A workflow to be: its nodes are named when all is known, each with a number of its own. */
type Plan = (number: (hostile: string) => string) => Any

const { plan } = FastCheck.letrec<{ plan: Plan }>((tie) => {
  const some = FastCheck.array(tie("plan"), { minLength: 1, maxLength: 3 })
  const inside = FastCheck.record({ name, nodes: some })
  const seq = (nodes: ReadonlyArray<Plan>, number: (hostile: string) => string): Any =>
    nodes.map((node) => node(number)).reduce((a, b) => Node.andThen(a, b))
  const text = () => ""
  return {
    plan: FastCheck.oneof(
      { maxDepth: 4, withCrossShrink: true },
      name.map(
        (name): Plan =>
          (number) =>
            Node.step(number(name), text)
      ),
      name.map(
        (name): Plan =>
          (number) =>
            Node.agent(number(name), agent) as unknown as Any
      ),
      inside.map(
        ({ name, nodes }): Plan =>
          (number) =>
            Node.step(number("first"), text).pipe(Node.andThen(seq(nodes, number)), Node.withName(number(name)))
      ),
      inside.map(
        ({ nodes }): Plan =>
          (number) =>
            seq(nodes, number)
      ),
      inside.map(
        ({ name, nodes }): Plan =>
          (number) =>
            Node.condition(number(name), { if: () => true, onTrue: seq(nodes, number), onFalse: nodes[0]!(number) })
      ),
      inside.map(
        ({ name, nodes }): Plan =>
          (number) =>
            Node.condition(number(name), { if: () => true, onTrue: seq(nodes, number) })
      ),
      inside.map(
        ({ name, nodes }): Plan =>
          (number) =>
            Node.loop(number(name), seq(nodes, number), { max: 3, onMax: "stop" })
      ),
      FastCheck.tuple(inside, FastCheck.array(name, { minLength: 3, maxLength: 3 })).map(
        ([{ name, nodes }, names]): Plan =>
          (number) =>
            Node.andThen(
              Node.parallel(
                number(name),
                Object.fromEntries(nodes.map((node, i) => [`${i} ${names[i]}`, node(number)]))
              ),
              Node.step(number("joined"), text)
            )
      ),
      FastCheck.tuple(inside, FastCheck.array(name, { minLength: 3, maxLength: 3 })).map(
        ([{ name, nodes }, names]): Plan =>
          (number) =>
            Node.router(number(name), {
              choose: text,
              routes: Object.fromEntries(
                nodes.map((node, i) => [i === 0 ? names[i] : `${names[i]} ${i}`, node(number)])
              )
            }) as unknown as Any
      ),
      inside.map(
        ({ name, nodes }): Plan =>
          (number) =>
            Node.sequence(
              Node.step(number("cut"), () => [""]),
              Node.each(number(name), seq(nodes, number)),
              Node.step(number("paste"), text)
            )
      ),
      inside.map(
        ({ name, nodes }): Plan =>
          (number) =>
            Workflow.make({ name: number(name), node: seq(nodes, number), history: { mode: "off" } })
      ),
      inside.map(
        ({ nodes }): Plan =>
          (number) =>
            seq(nodes, number).pipe(
              Node.orElse(nodes[0]!(number)),
              Node.orElse(() => ""),
              Node.orElse(nodes[0]!(number))
            )
      ),
      inside.map(
        ({ nodes }): Plan =>
          (number) =>
            seq(nodes, number).pipe(Node.retry({ times: 2 }), Node.withHistory({ mode: "off" }))
      )
    )
  }
})

const drawn = FastCheck.tuple(plan, name).map(([plan, name]) => {
  const names: Array<string> = []
  const number = (hostile: string) => {
    const name = `${hostile} ${names.length}`
    names.push(name)
    return name
  }
  const node = plan(number)
  const workflow = Workflow.make({ name: number(name), node, history: { mode: "on", runs: "all" } })
  return { names, workflow, text: Workflow.toMermaid(workflow) }
})

describe("a drawing", () => {
  it("has a shape for every kind of node, what each sees of earlier runs, and what is done when it fails", () => {
    expect(Workflow.toMermaid(everything)).toBe(expected)
  })

  it.prop("has no line that is not its own, whatever its nodes are called", [drawn], ([{ text }]) => {
    expect(read(text).strange).toEqual([])
  })

  it.prop("has every node by its name", [drawn], ([{ names, text }]) => {
    const { labels } = read(text)
    const seen = (name: string) => name.replace(/\s+/g, " ").trim()
    for (const name of names) expect(labels.some((label) => label.includes(seen(name)))).toBe(true)
  })

  it.prop("has each id once, and edges between those alone", [drawn], ([{ text }]) => {
    const { edges, frames, nodes } = read(text)
    const ids = [...nodes, ...frames]
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of edges.flat()) expect(ids).toContain(id)
  })

  it.prop("leads from the start through each node to the end", [drawn], ([{ text }]) => {
    const { edges, nodes } = read(text)
    const [from, to] = [new Set(edges.map(([from]) => from)), new Set(edges.map(([, to]) => to))]
    expect(nodes.filter((id) => !to.has(id))).toEqual([nodes[0]])
    expect(nodes.filter((id) => !from.has(id))).toEqual([nodes.at(-1)])
  })

  it.prop("closes each frame that it opens", [drawn], ([{ text }]) => {
    const { open } = read(text)
    expect(Math.min(...open)).toBe(0)
    expect(open.at(-1)).toBe(0)
  })

  it.prop("is the same again", [drawn], ([{ text, workflow }]) => {
    expect(Workflow.toMermaid(workflow)).toBe(text)
  })

  it("tells a route called fallback from a fallback", () => {
    const routes = { fallback: step("a"), other: step("b") }
    const router = Node.router("which", { choose: () => "other" as const, routes }).pipe(Node.orElse(step("c")))
    const text = Workflow.toMermaid(Workflow.make({ name: "routes", node: router }))
    expect(text).toContain('n2 -->|"fallback"| n3')
    expect(text).toContain('n2 -.->|"on failure"| n5')
  })

  it("writes a name without what it could mean", () => {
    const text = Workflow.toMermaid(Workflow.make({ name: "x", node: step('1. a"]\n`<b>` snake_case') }))
    expect(text).toContain('n2["1#46; a#34;#93; #96;#60;b#62;#96; snake_case"]')
  })
})
