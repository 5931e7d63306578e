/**
 * Expressions of a definition: CEL, which has no loops, no assignments and no way
 * out of the data that it is given.
 *
 * A number of the data is a double. CEL alone refuses `value.score + 1`, as `1`
 * is an int; here the two can be mixed, and give a double.
 */
import { Environment, type ParseResult } from "@marcbachmann/cel-js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { ExpressionFailed } from "../../WorkflowErrors.ts"
import { meter, metered, withBudget } from "./budget.ts"
import { summary } from "./path.ts"

/** What an expression has to give. */
export type Gives = "bool" | "string"

/** What an expression can see. */
export interface Variables {
  readonly value: unknown
  /** Rounds done. */
  readonly round?: number
}

/** An expression, ready to be evaluated any number of times. */
export interface Expression {
  readonly text: string
  readonly gives: Gives
  readonly run: ParseResult
}

/** No definition can keep a process busy with reading it; what it may take to evaluate one, the budget says. */
const limits = { maxAstNodes: 1000, maxDepth: 100, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 16 }
const longest = 10_000

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b
}

const environment = (): Environment => {
  const env = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits })
  for (const [operator, f] of Object.entries(arithmetic)) {
    const mixed = (a: unknown, b: unknown) => f(Number(a), Number(b))
    env
      .registerOperator(`double ${operator} int: double`, mixed)
      .registerOperator(`int ${operator} double: double`, mixed)
  }
  env
    .registerOperator("double % double", arithmetic["%"]!)
    .registerOperator("double == int", (a: number, b: bigint) => a === Number(b))
    .registerVariable("value", "dyn")
  return metered(env)
}

const outside = environment()
const inLoop = environment().registerVariable("round", "dyn")

/** Compiles an expression, or says what is wrong with it. */
export const compileExpression = (text: string, gives: Gives, hasRound: boolean): Either.Either<Expression, string> => {
  if (text.length > longest) return Either.left(`an expression has ${longest} characters at the most`)
  try {
    const run = (hasRound ? inLoop : outside).parse(text)
    const { error, type, valid } = run.check()
    if (!valid) return Either.left(reason(error, text))
    if (type !== gives && type !== "dyn") return Either.left(`bad expression: it gives ${type}, not ${wanted[gives]}`)
    if (hasMatches(run.ast)) {
      return Either.left("bad expression: there is no `matches`: a regular expression may take forever")
    }
    meter(run)
    return Either.right({ text, gives, run })
  } catch (error) {
    return Either.left(reason(error, text))
  }
}

const wanted = { bool: "true or false", string: "a string" }

const reason = (error: unknown, text: string): string => {
  const range = (error as { readonly range?: { readonly start: number } } | undefined)?.range
  const at = range === undefined ? "" : ` at character ${Math.min(range.start, text.length) + 1}`
  return `bad expression: ${summary(error)}${at}`
}

const hasMatches = (part: unknown): boolean => {
  if (Array.isArray(part)) return part.some(hasMatches)
  if (typeof part !== "object" || part === null || !("op" in part && "args" in part)) return false
  return (part.op === "rcall" && (part.args as ReadonlyArray<unknown>)[0] === "matches") || hasMatches(part.args)
}

/** Evaluates an expression, or gives why it has failed. */
export const evaluate = (
  { gives, run, text }: Expression,
  node: string,
  { round, value }: Variables
): Effect.Effect<unknown, ExpressionFailed> => {
  const failed = (cause: unknown) => failure(node, text, cause)
  try {
    const variables = { value: asJson(value), ...(round !== undefined && { round }) }
    const result: unknown = withBudget(() => run(variables))
    const fits = typeof result === (gives === "bool" ? "boolean" : "string")
    return fits ? Effect.succeed(result) : failed(new TypeError(`It gave ${typeof result}, not ${wanted[gives]}.`))
  } catch (error) {
    return failed(error)
  }
}

/** Where nothing is written that makes something else of it, the input is what is asked for. */
const input = "value"
const failure = (node: string, expression: string, cause: unknown) => new ExpressionFailed({ node, expression, cause })

/** The input of a node as a text, or why there is none. */
export const asText = (node: string, value: unknown): string | ExpressionFailed => {
  try {
    return typeof value === "string" ? value : jsonText(value)
  } catch (error) {
    return failure(node, input, error)
  }
}

/** Why a node cannot go through its input. */
export const notAnArray = (node: string, value: unknown): ExpressionFailed =>
  failure(node, input, new TypeError(`It gave ${value === null ? "null" : typeof value}, not an array.`))

/** What JSON makes of a value: an instance of a class is what it is written as, `undefined` is nothing, a big integer a number. */
const asJson = (value: unknown): unknown =>
  typeof value === "string"
    ? value
    : JSON.parse(jsonText(value), (_, part: unknown) => (isRecord(part) ? new Map(Object.entries(part)) : part))

// The expression library asks a plain object for its `constructor`, which data may have. A map has nothing but its keys.
const isRecord = (part: unknown): part is object =>
  typeof part === "object" && part !== null && !Array.isArray(part) && !(part instanceof Map)

/** A value as JSON. Throws on a circle, and what `each`, which is called for each value, throws. */
export const jsonText = (value: unknown, each?: () => void): string =>
  JSON.stringify(value, (_, part: unknown) => {
    each?.()
    return typeof part === "bigint" ? Number(part) : part
  }) ?? "null"
