/**
 * Draws a workflow as a Mermaid flowchart. Ids are counted and never made of names,
 * and a name stands in a quoted label in which nothing of it can mean anything, so
 * that any name will do.
 */
import { byDefault, type Effective, resolve, shows, statusesKey } from "./history.ts"
import type { Child, NodeImpl } from "./node.ts"

/** Where an edge comes from. */
interface Port {
  readonly from: string
  readonly text?: string
  readonly dotted?: boolean
}

/** How each kind of node looks. Sequences and workflows are frames around what is in them. */
const shapes = {
  terminal: ["(", ")"],
  step: ["[", "]"],
  agent: ["([", "])"],
  condition: ["{", "}"],
  router: ["{{", "}}"],
  loop: [">", "]"],
  each: ["[/", "/]"],
  parallel: ["[/", "\\]"],
  join: ["[\\", "/]"]
} as const

/** Draws a workflow; `around` is what holds outside of it. */
export const mermaid = (workflow: NodeImpl, around: Effective): string => {
  const drawing = new Drawing()
  const start = drawing.node("terminal", `start: ${escape(workflow.name ?? "")}`)
  const ends = drawing.inARow(workflow.children, resolve(around, workflow.policy), [{ from: start }])
  drawing.link(ends, drawing.node("terminal", "end"))
  return drawing.text
}

class Drawing {
  private readonly nodes: Array<string> = []
  private readonly edges: Array<string> = []
  private ids = 0
  private indent = "  "

  /** Edges stand behind all nodes: a node belongs to the frame in which it is named first. */
  get text(): string {
    return ["flowchart TD", ...this.nodes, ...this.edges].join("\n")
  }

  node(shape: keyof typeof shapes, label: string): string {
    const id = this.id()
    const [open, close] = shapes[shape]
    this.nodes.push(`${this.indent}${id}${open}"${label}"${close}`)
    return id
  }

  link(ports: ReadonlyArray<Port>, to: string): void {
    for (const { dotted = false, from, text = "" } of ports) {
      this.edges.push(`  ${from} ${dotted ? "-.->" : "-->"}${text === "" ? "" : `|"${text}"|`} ${to}`)
    }
  }

  /** Draws a node behind what leads to it, and gives what leads on. */
  draw(node: NodeImpl, around: Effective, before: ReadonlyArray<Port>): ReadonlyArray<Port> {
    const history = resolve(around, node.policy)
    const children = node.children.filter((child) => child.isFallback !== true)
    const fallbacks = node.children.filter((child) => child.isFallback === true)
    const said = notes(node, around, history, fallbacks.length)
    if (isBare(node, said, fallbacks)) return this.inARow(children, history, before)
    let from = `n${this.ids + 1}`
    const after = [...this.drawOne(node, children, history, said, before)]
    // A fallback takes over from the one before it, and sees what its node sees.
    for (const child of fallbacks) {
      const first = `n${this.ids + 1}`
      after.push(...this.draw(child.node, history, [{ from, text: "on failure", dotted: true }]))
      from = first
    }
    return after
  }

  /** Draws nodes one after the other. */
  inARow(children: ReadonlyArray<Child>, history: Effective, before: ReadonlyArray<Port>): ReadonlyArray<Port> {
    return children.reduce((ports, child) => this.draw(child.node, history, ports), before)
  }

  /** Draws a node without its fallbacks: its first id is that of the node as a whole. */
  private drawOne(
    node: NodeImpl,
    children: ReadonlyArray<Child>,
    history: Effective,
    said: ReadonlyArray<string>,
    before: ReadonlyArray<Port>
  ): ReadonlyArray<Port> {
    const { kind } = node
    if (kind === "sequence" || kind === "workflow") {
      const title = node.name === undefined ? kind : `${kind} ${escape(node.name)}`
      return this.frame([title, ...said].join(", "), () => this.inARow(children, history, before))
    }
    const name = escape(node.name ?? "")
    const id = this.node(kind, [name, ...said].join("<br/>"))
    this.link(before, id)
    const branch = (child: Child) => this.draw(child.node, history, [{ from: id, text: escape(child.role ?? "") }])
    switch (kind) {
      case "step":
      case "agent":
        return [{ from: id }]
      case "router":
        return children.flatMap(branch)
      case "condition": {
        const passed = children.some(({ role }) => role === "false") ? [] : [{ from: id, text: "false" }]
        return [...children.flatMap(branch), ...passed]
      }
      case "parallel": {
        const ends = children.flatMap(branch)
        const join = this.node("join", `join of ${name}`)
        this.link(ends, join)
        return [{ from: join }]
      }
      case "each":
        return this.frame(`${name}, for each`, () => this.inARow(children, history, [{ from: id }]))
      case "loop": {
        const max = children[0]?.role ?? ""
        const ends = this.frame(`${name}, each round`, () => this.inARow(children, history, [{ from: id }]))
        this.link(
          ends.map((port) => ({ ...port, text: [port.text ?? "", max].filter((text) => text !== "").join(", ") })),
          id
        )
        return [{ from: id, text: "done" }]
      }
    }
  }

  private frame(title: string, inside: () => ReadonlyArray<Port>): ReadonlyArray<Port> {
    const id = this.id()
    const outer = this.indent
    this.nodes.push(`${outer}subgraph ${id}["${title}"]`)
    this.indent = `${outer}  `
    const after = inside()
    this.indent = outer
    this.nodes.push(`${outer}end`)
    return after
  }

  private id(): string {
    return `n${++this.ids}`
  }
}

/** A sequence of which there is nothing to say is not told of, and not drawn. */
const isBare = (node: NodeImpl, said: ReadonlyArray<string>, fallbacks: ReadonlyArray<Child>) =>
  node.kind === "sequence" && node.name === undefined && said.length === 0 && fallbacks.length === 0

/** What is done when a node fails, and what it sees of earlier runs. */
const notes = (node: NodeImpl, around: Effective, history: Effective, fallbacks: number): ReadonlyArray<string> => {
  // One that is a node is drawn; one that is a function is a mark like the others.
  const marks = node.marks.filter((mark) => mark !== "fallback" || fallbacks-- <= 0)
  const isStep = node.kind === "step" || node.kind === "agent"
  if (shows(history)) return isStep ? [...marks, `history: ${seen(history)}`] : marks
  return shows(around) ? [...marks, "history: off"] : marks
}

const seen = ({ runs, statuses }: Effective): string => {
  const number = runs === Infinity ? "all" : runs === 1 ? "1 run" : `${runs} runs`
  return statusesKey(statuses) === statusesKey(byDefault.statuses) ? number : `${number} (${statuses.join(", ")})`
}

/**
 * A name as a part of a label: on one line, with each character by its number that
 * Mermaid, Markdown or HTML could take for more than itself. A hyphen, a dot and an
 * underscore are harmless inside of a word.
 */
const escape = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .trim()
    .replace(
      /(?![\p{L}\p{N}\p{M} ,?!/']|(?<=[\p{L}\p{N}])[-._](?=[\p{L}\p{N}]))./gsu,
      (character) => `#${character.codePointAt(0)};`
    )
