/**
 * Finds everything that is wrong with a definition, at once: what the Schema says
 * of its shape, and what no Schema can see. The walk takes the data as it comes,
 * so that one mistake hides no other.
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as HistoryFormat from "../../HistoryFormat.ts"
import type { Problem } from "../../WorkflowErrors.ts"
import { pathText, unknownName } from "./path.ts"
import { checkReferences, type Graph, type Scope } from "./references.ts"
import { isFormat, schema } from "./schema.ts"
import { type Fields, fields, nameOf, own, type Path } from "./value.ts"
import { compileExpression, type Expression, type Gives } from "./expression.ts"

/** The names that there are. */
export interface Names {
  readonly agents: ReadonlyArray<string>
  readonly functions: ReadonlyArray<string>
}

/** Gives the compiled form of an expression, which is compiled once. */
export type Compile = (text: string, gives: Gives, hasRound: boolean) => Either.Either<Expression, string>

/** Compiles each expression once. */
export const compiler = (): Compile => {
  const compiled = new Map<string, Either.Either<Expression, string>>()
  return (text, gives, hasRound) => {
    const key = `${gives} ${hasRound} ${text}`
    const result = compiled.get(key) ?? compileExpression(text, gives, hasRound)
    compiled.set(key, result)
    return result
  }
}

/** All that is wrong with a definition, which is plain data. */
export const problemsOf = (definition: unknown, names: Names, compile: Compile): ReadonlyArray<Problem> => [
  ...shapeProblems(definition),
  ...new Walk(names, compile).document(definition)
]

// -----------------------------------------------------------------------------
// shape
// -----------------------------------------------------------------------------

const validate = ParseResult.validateEither(schema, { errors: "all", onExcessProperty: "error" })
const longest = 500

const shapeProblems = (definition: unknown): ReadonlyArray<Problem> => {
  const result = validate(definition)
  if (Either.isRight(result)) return []
  return ParseResult.ArrayFormatter.formatIssueSync(result.left)
    .filter(({ message }) => message !== "")
    .map(({ _tag, message, path }, i) => ({
      path: path as Path,
      message:
        _tag === "Unexpected"
          ? // The keys that there could be are in no other place than the message.
            unknownName("key", String(path.at(-1)), () => [...message.matchAll(/"(\w+)"/g)].map(([, key]) => key!), i)
          : lowered(message)
    }))
}

const lowered = (message: string): string => {
  const text = message.charAt(0).toLowerCase() + message.slice(1)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

// -----------------------------------------------------------------------------
// what no Schema can see
// -----------------------------------------------------------------------------

/** The fields that are expressions, of which nodes. */
const expressions: ReadonlyArray<readonly [type: string, field: string, gives: Gives]> = [
  ["agent", "prompt", "string"],
  ["condition", "if", "bool"],
  ["loop", "while", "bool"],
  ["loop", "until", "bool"],
  ["router", "choose", "string"]
]

class Walk {
  private readonly found: Array<Problem> = []
  private readonly names: Names
  private readonly compile: Compile
  private workflows: Fields = {}

  constructor(names: Names, compile: Compile) {
    this.names = names
    this.compile = compile
  }

  document(definition: unknown): ReadonlyArray<Problem> {
    this.workflows = fields(own(definition, "workflows"))
    this.history(definition, [])
    for (const [name, inner] of Object.entries(this.workflows)) this.history(inner, ["workflows", name])
    const root = this.scope(own(definition, "node"), ["node"])
    const graph: Graph = new Map(
      Object.keys(this.workflows).map((name) => [
        name,
        this.scope(own(this.workflows[name], "node"), ["workflows", name, "node"])
      ])
    )
    return [...this.found, ...checkReferences(root, graph)]
  }

  private say(path: Path, message: string): void {
    this.found.push({ path, message })
  }

  private unknown(kind: string, name: string, known: () => ReadonlyArray<string>): string {
    return unknownName(kind, name, known, this.found.length)
  }

  /** Walks through one workflow, in which each name is used once. */
  private scope(node: unknown, path: Path): Scope {
    const scope: Scope = { nodes: 0, depth: 0, references: [] }
    this.visit(node, path, scope, new Map(), 1)
    return scope
  }

  private visit(node: unknown, path: Path, scope: Scope, seen: Map<string, Path>, depth: number): void {
    scope.nodes++
    scope.depth = Math.max(scope.depth, depth)
    this.name(node, path, seen)
    this.one(node, path)
    this.history(node, path)
    const to = own(node, "workflow")
    if (own(node, "type") === "workflow" && typeof to === "string") {
      if (Object.hasOwn(this.workflows, to)) scope.references.push({ to, path: [...path, "workflow"], depth })
      else
        this.say(
          [...path, "workflow"],
          this.unknown("workflow", to, () => Object.keys(this.workflows))
        )
    }
    for (const [child, ...way] of inside(node)) this.visit(child, [...path, ...way], scope, seen, depth + 1)
  }

  private name(node: unknown, path: Path, seen: Map<string, Path>): void {
    const name = nameOf(node, this.workflows)
    if (name === undefined) return
    const other = seen.get(name)
    if (other === undefined) seen.set(name, path)
    else {
      this.say(
        own(node, "name") === undefined ? path : [...path, "name"],
        `${JSON.stringify(name)} is the name of ${pathText(other)}, too; a name is used once in a workflow`
      )
    }
  }

  /** Looks for formats in which one run could pass for another. */
  private history(of: unknown, path: Path): void {
    const format = own(own(of, "history"), "format")
    if (!isFormat(format)) return
    try {
      HistoryFormat.make(format)
    } catch (error) {
      // A `DefinitionError`: nothing else comes of what has the right shape.
      this.say([...path, "history", "format"], lowered((error as Error).message))
    }
  }

  private one(node: unknown, path: Path): void {
    const type = own(node, "type")
    const agent = own(node, "agent")
    if (type === "agent" && typeof agent === "string" && !this.names.agents.includes(agent)) {
      this.say(
        [...path, "agent"],
        this.unknown("agent", agent, () => this.names.agents)
      )
    }
    const f = own(node, "function")
    if (type === "step" && typeof f === "string" && !this.names.functions.includes(f)) {
      this.say(
        [...path, "function"],
        this.unknown("function", f, () => this.names.functions)
      )
    }
    for (const [of, field, gives] of expressions) {
      const text = own(node, field)
      if (type !== of || typeof text !== "string") continue
      const compiled = this.compile(text, gives, type === "loop")
      if (Either.isLeft(compiled)) this.say([...path, field], compiled.left)
    }
    if (
      type === "loop" &&
      own(node, "while") === undefined &&
      own(node, "until") === undefined &&
      own(node, "onMax") !== "stop"
    ) {
      this.say(path, 'a loop needs a "while" or an "until", else it always fails at "max"; or "onMax": "stop"')
    }
    const atLeast = own(own(node, "settlement"), "atLeast")
    const branches = Object.keys(fields(own(node, "branches"))).length
    if (type === "parallel" && typeof atLeast === "number" && branches > 0 && atLeast > branches) {
      this.say([...path, "settlement", "atLeast"], `of ${branches} branches, ${atLeast} cannot succeed`)
    }
    const retry = own(node, "retry")
    for (const field of ["factor", "maxDelay"]) {
      if (own(retry, field) !== undefined && own(retry, "delay") === undefined) {
        this.say([...path, "retry", field], 'there is no "delay" that it could apply to')
      }
    }
  }
}

/** The nodes of a definition that have options for an agent. */
export const nodesWithOptions = (
  definition: unknown
): ReadonlyArray<{ readonly node: unknown; readonly path: Path; readonly options: Fields }> => {
  const workflows = Object.entries(fields(own(definition, "workflows"))).map(
    ([name, workflow]) => [own(workflow, "node"), ["workflows", name, "node"]] as const
  )
  return [[own(definition, "node"), ["node"]] as const, ...workflows].flatMap(([root, path]) =>
    Array.from(nodesFrom(root, path)).flatMap(([node, path]) => {
      const options = own(node, "options")
      const isAgent = own(node, "type") === "agent"
      return isAgent && options !== undefined ? [{ node, path: [...path, "options"], options: fields(options) }] : []
    })
  )
}

/** A node and all nodes inside of it. */
function* nodesFrom(node: unknown, path: Path): Iterable<readonly [node: unknown, path: Path]> {
  yield [node, path]
  for (const [child, ...way] of inside(node)) yield* nodesFrom(child, [...path, ...way])
}

/** What is inside of a node, whatever it says that it is, and the way there. */
function* inside(node: unknown): Iterable<readonly [child: unknown, ...way: Array<string | number>]> {
  const nodes = own(node, "nodes")
  if (Array.isArray(nodes)) for (const [i, child] of nodes.entries()) yield [child, "nodes", i]
  for (const field of ["then", "else", "body"]) {
    const child = own(node, field)
    if (child !== undefined) yield [child, field]
  }
  for (const field of ["branches", "routes"]) {
    for (const [name, child] of Object.entries(fields(own(node, field)))) yield [child, field, name]
  }
  const fallback = own(own(node, "onError"), "fallback")
  if (fallback !== undefined) yield [fallback, "onError", "fallback"]
}
