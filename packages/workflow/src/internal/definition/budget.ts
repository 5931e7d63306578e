/**
 * What an expression may take. CEL ends always, but not soon: lists are doubled by
 * `x + x` in a chain of macros, a text is searched for each element of a list.
 *
 * The expression library has no bound of its own, so each part of an expression is
 * counted before it is evaluated, and each operation before it is done, by the size
 * of what it is done with: nothing is made or gone through that was not paid for.
 * All that a budget has to know of the inside of the library is in this file.
 */
import { type Environment, type ParseResult } from "@marcbachmann/cel-js"

/**
 * What one evaluation may take: parts evaluated, elements of lists joined, compared
 * or searched, and tens of characters. So it makes a million elements or ten million
 * characters at the most.
 */
const most = 1_000_000
const perCharacter = 0.1
/** Letters that are compared in a search are cheaper than letters that are copied. */
const perComparison = 1 / 64
/** An error that `||` or `exists` passes over has been written out, with the expression. */
const perError = 100
/** A time in another time zone. */
const perTimeZone = 1000
/** The name of `{x: x}` is twice as long as that of `x`, so that types, too, have to end somewhere. */
const longestType = 60

class TooExpensive extends Error {
  constructor() {
    super(`It takes more than ${most} steps.`)
  }
}

// What is used of the library. The evaluator and the registry belong to one environment, so that no other sees a change.

interface Part {
  readonly op: string
  readonly args: unknown
  readonly meta: { readonly alternate?: Part; readonly macro?: unknown }
  readonly evaluate: (evaluator: Evaluator, part: Part, context: unknown) => unknown
  handle?: Handle
}
type Handle = (...args: ReadonlyArray<unknown>) => unknown
interface Type {
  readonly name: string
}
interface Overload {
  readonly handler: (a: unknown, b: unknown, ...rest: ReadonlyArray<unknown>) => unknown
}
interface Evaluator {
  readonly registry: {
    findBinaryOverload: (operator: string, left: Type, right: Type) => Overload | undefined
    getListType: (of: Type) => Type
    getMapType: (keys: Type, values: Type) => Type
    getOptionalType: (of: Type) => Type
  }
  readonly dynType: Type
  run: (part: Part, context: unknown) => unknown
  tryEval: (part: Part, context: unknown) => unknown
  debugType: (value: unknown) => Type
}

// One for all: an evaluation waits for nothing, so that there is never more than one.
let left = most

const spend = (steps: number): void => {
  left -= steps
  if (left < 0) throw new TooExpensive()
}

/** Evaluates with a budget of its own. */
export const withBudget = <A>(evaluate: () => A): A => {
  left = most
  return evaluate()
}

/** Makes an environment count what its expressions take. */
export const metered = (env: Environment): Environment => {
  const evaluator = evaluatorOf(env)
  const { debugType } = evaluator
  evaluator.run = (part, context) => {
    spend(1)
    return part.evaluate(evaluator, part, context)
  }
  evaluator.tryEval = (part, context) => {
    try {
      return evaluator.run(part, context)
    } catch (error) {
      if (error instanceof TooExpensive) throw error
      spend(perError)
      return error
    }
  }
  // Asked once for each level of the first value in the first value.
  evaluator.debugType = (value) => {
    spend(1)
    return debugType.call(evaluator, value)
  }

  const { dynType, registry } = evaluator
  const { findBinaryOverload, getListType, getMapType, getOptionalType } = registry
  // Asked for when values inside of values are compared.
  const counting = new WeakMap<Overload, Overload>()
  registry.findBinaryOverload = (operator, left, right) => {
    const overload = findBinaryOverload.call(registry, operator, left, right)
    if (overload === undefined) return undefined
    const known = counting.get(overload)
    if (known !== undefined) return known
    const { handler } = overload
    const counted: Overload = {
      ...overload,
      handler: (a, b, ...rest) => {
        spend(1 + comparison(a, b))
        return handler(a, b, ...rest)
      }
    }
    counting.set(overload, counted)
    return counted
  }
  const short = (type: Type) => (type.name.length > longestType ? dynType : type)
  registry.getListType = (of) => getListType.call(registry, short(of))
  registry.getMapType = (keys, values) => getMapType.call(registry, short(keys), short(values))
  registry.getOptionalType = (of) => getOptionalType.call(registry, short(of))
  return env
}

/** The evaluator is given to each part of an expression, and to nobody else. */
const evaluatorOf = (env: Environment): Evaluator => {
  let found: Evaluator | undefined
  const probe = env.parse("true")
  Object.defineProperty(probe.ast, "evaluate", {
    value: (evaluator: Evaluator) => {
      found = evaluator
      return true
    }
  })
  probe()
  return found!
}

/** Makes the operations of an expression, once it is checked, count the size of what they are done with. */
export const meter = ({ ast }: ParseResult): void => {
  const open: Array<unknown> = [ast]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...(next as ReadonlyArray<unknown>))
    else if (isPart(next)) {
      open.push(next.args)
      countOperation(next)
    }
  }
}

const isPart = (value: unknown): value is Part =>
  typeof value === "object" && value !== null && "op" in value && "args" in value && "meta" in value

const countOperation = (part: Part): void => {
  const { alternate } = part.meta
  if (alternate?.op === "comprehension") return before(alternate, (items) => spend(keys(items)))
  if (part.meta.macro !== undefined) return
  if (part.op === "call" || part.op === "rcall") {
    const [name] = part.args as readonly [string]
    return before(part, (args) => spend(callOf(name, args as ReadonlyArray<unknown>)))
  }
  const operation = operations[part.op]
  if (operation !== undefined) before(part, (a, b) => spend(operation(a, b)))
}

/** What is checked has a `handle`, which is given the values. Without one nothing could be counted, so that it is refused. */
const before = (part: Part, count: (a: unknown, b: unknown) => void): void => {
  const { handle } = part
  if (handle === undefined) throw new Error(`there is no way to count what \`${part.op}\` takes`)
  part.handle = (...args) => {
    count(args[0], args[1])
    return handle(...args)
  }
}

const text = (value: unknown): number =>
  typeof value === "string" || value instanceof Uint8Array ? value.length * perCharacter : 0

const sum = (values: Iterable<unknown>, of: (value: unknown) => number): number => {
  let total = 0
  for (const value of values) total += of(value)
  return total
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** What is no list is made into one of its keys, to be gone through. */
const keys = (items: unknown): number => {
  if (!isObject(items) || Array.isArray(items)) return 0
  if (items instanceof Map) return items.size
  return items instanceof Uint8Array ? items.length : Object.keys(items).length
}

/** Texts of different lengths are different at once. */
const same = (a: unknown, b: unknown): number =>
  typeof a === "string" && typeof b === "string" && a.length === b.length ? text(a) : 0

/** Of two values, without what is inside of values that are inside. */
const comparison = (a: unknown, b: unknown): number => {
  if (!isObject(a) || !isObject(b)) return same(a, b)
  if (a instanceof Uint8Array) return text(a)
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length ? sum(a, (item) => 1 + text(item)) : 0
  if (a instanceof Map) return sum(a.values(), (item) => 1 + text(item))
  return sum(Object.values(a), (item) => 1 + text(item))
}

const order = (a: unknown, b: unknown): number => Math.min(text(a), text(b))
const length = (value: unknown): number => (Array.isArray(value) ? value.length : text(value))

const operations: Readonly<Record<string, (a: unknown, b: unknown) => number>> = {
  "+": (a, b) => length(a) + length(b),
  "==": comparison,
  "!=": comparison,
  in: (a, b) => (Array.isArray(b) ? sum(b, (item) => 1 + same(a, item)) : 0),
  "<": order,
  "<=": order,
  ">": order,
  ">=": order
}

/** A method has the value that it is called on as the first of its arguments. */
const callOf = (name: string, args: ReadonlyArray<unknown>): number => {
  const [first, second] = args
  const texts = sum(args, text)
  const long = texts / perCharacter
  if (Array.isArray(first) && name === "join") return sum(first, (item) => 1 + text(item) + text(second))
  if (first instanceof Date && second !== undefined) return perTimeZone
  if (searches.has(name)) return long + length(first) * length(second) * (perComparison / perCharacter ** 2)
  // What it makes of each byte may be a value.
  if (name === "json") return long
  // It looks for a unit after any two groups of digits, from each digit on.
  return name === "duration" ? long ** 3 * perComparison : texts
}
const searches: ReadonlySet<string> = new Set(["contains", "indexOf", "lastIndexOf", "split"])
