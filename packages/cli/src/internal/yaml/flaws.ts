/**
 * What is wrong with data by a Schema, each thing with its path, and with the key or
 * the word that is nearest to one that nobody knows.
 */
import { unknownName } from "@heddle/core/names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Path } from "./readYaml.ts"

/** Something that is wrong with data. */
export interface Flaw {
  readonly path: Path
  /** Whether it is the key that is wrong, or its value. */
  readonly part: "key" | "value"
  readonly message: string
}

/** A path as one reads it: `limits.most`, `names[0]`. */
const pathText = (path: Path): string =>
  path.reduce<string>(
    (at, key) => (typeof key === "number" ? `${at}[${key}]` : at === "" ? String(key) : `${at}.${String(key)}`),
    ""
  )

/** All that is wrong with data, by a Schema that needs no service and waits for nothing. */
export const flaws = <A, I>(schema: Schema.Schema<A, I>): ((data: unknown, at?: Path) => ReadonlyArray<Flaw>) => {
  const decode = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error", exact: true })
  return (data, at = []) => {
    const decoded = decode(data)
    return Either.isRight(decoded) ? [] : found(decoded.left, at)
  }
}

const told = (path: Path, text: string, part: Flaw["part"] = "value"): ReadonlyArray<Flaw> => [
  { path, part, message: path.length === 0 ? text : `${pathText(path)}: ${text}` }
]

const found = (issue: ParseResult.ParseIssue, path: Path): ReadonlyArray<Flaw> => {
  switch (issue._tag) {
    case "Pointer":
      return found(issue.issue, path.concat(issue.path))
    case "Composite":
      return AST.isUnion(issue.ast) ? ofUnion(issue, issue.ast, path) : ofComposite(issue, path)
    case "Refinement":
    case "Transformation": {
      const own = annotated(issue)
      if (own?.override === true || issue.kind === "Predicate" || issue.kind === "Transformation") {
        return told(path, own?.message ?? leafMessage(issue.issue) ?? `expected ${expectation(issue.ast)}`)
      }
      return found(issue.issue, path)
    }
    case "Type":
      return told(path, annotated(issue)?.message ?? issue.message ?? `expected ${expectation(issue.ast)}`)
    case "Missing":
      return told(path.slice(0, -1), `expected the key ${JSON.stringify(String(path.at(-1)))}`, "key")
    case "Unexpected":
      return told(path, "is unexpected", "key")
    case "Forbidden":
      return told(path, issue.message ?? "cannot be checked")
  }
}

const ofComposite = (issue: ParseResult.Composite, path: Path): ReadonlyArray<Flaw> => {
  const { ast } = issue
  const all = issuesOf(issue)
  if (!AST.isTypeLiteral(ast)) return all.flatMap((one) => found(one, path))
  const known = ast.propertySignatures.map(({ name }) => String(name))
  const unknown = all.flatMap((one) => (isPointer(one) && one.issue._tag === "Unexpected" ? [String(one.path)] : []))
  // One that is misspelt is not missing as well.
  const isMisspelt = (key: string) => unknown.some((name) => unknownName("key", name, [key]).endsWith("meant?"))
  return all.flatMap((one) => {
    if (!isPointer(one)) return found(one, path)
    const key = String(one.path)
    if (one.issue._tag === "Unexpected") return unknownKey(path, key, ast, known)
    return one.issue._tag === "Missing" && isMisspelt(key) ? [] : found(one, path)
  })
}

const isPointer = (issue: ParseResult.ParseIssue): issue is ParseResult.Pointer => issue._tag === "Pointer"

const unknownKey = (
  path: Path,
  key: string,
  { indexSignatures: [index] }: AST.TypeLiteral,
  known: ReadonlyArray<string>
): ReadonlyArray<Flaw> => {
  const at = [...path, key]
  const [where, text] =
    index === undefined
      ? [path, unknownName("key", key, known)]
      : [at, `expected ${expectation(index.parameter)} as key`]
  return told(where, text).map(({ message }) => ({ path: at, part: "key", message }))
}

/** Of several ways to be right: that which is meant most likely. */
const ofUnion = (issue: ParseResult.Composite, ast: AST.Union, path: Path): ReadonlyArray<Flaw> => {
  const { actual } = issue
  const said = annotated(issue)?.message ?? `expected ${expectation(ast)}`
  const words = ast.types.flatMap((type) =>
    AST.isLiteral(type) && Predicate.isString(type.literal) ? [type.literal] : []
  )
  if (Predicate.isString(actual)) {
    const isWords = words.length > 0 && words.length === ast.types.length
    if (isWords) return [{ path, part: "value", message: unknownName(pathText(path) || "value", actual, words) }]
    return told(path, said)
  }
  // Of a list or a map, what is inside of it.
  const inner = issuesOf(issue)
    .filter(isOfParts)
    .map((one) => found(one, path))
  const best = inner.toSorted((a, b) => a.length - b.length)[0]
  const isNothingOfIt = best === undefined || best.every((flaw) => flaw.path.length <= path.length)
  return isNothingOfIt ? told(path, said) : best
}

const isOfParts = (issue: ParseResult.ParseIssue): boolean =>
  issue._tag === "Composite" || (issue._tag === "Refinement" && isOfParts(issue.issue))

const issuesOf = ({ issues }: ParseResult.Composite): ReadonlyArray<ParseResult.ParseIssue> =>
  Array.isArray(issues) ? issues : [issues as ParseResult.ParseIssue]

/** What a Schema says of an issue itself. */
const annotated = (
  issue: ParseResult.Composite | ParseResult.Refinement | ParseResult.Transformation | ParseResult.Type
): { readonly message: string; readonly override: boolean } | undefined => {
  const annotation = Option.getOrUndefined(AST.getMessageAnnotation(issue.ast))
  if (annotation === undefined) return undefined
  const said = annotation(issue)
  if (typeof said === "string") return { message: said, override: false }
  if (Effect.isEffect(said)) return undefined
  return typeof said.message === "string" ? { message: said.message, override: said.override } : undefined
}

const leafMessage = (issue: ParseResult.ParseIssue): string | undefined =>
  issue._tag === "Type" || issue._tag === "Forbidden" ? issue.message : undefined

/** What a Schema expects, as one reads it. */
const expectation = (ast: AST.AST): string => {
  const isOurs = Option.isSome(AST.getMessageAnnotation(ast))
  const said = Option.getOrUndefined((isOurs ? AST.getTitleAnnotation : AST.getDescriptionAnnotation)(ast))
  switch (ast._tag) {
    case "StringKeyword":
      return "a text"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "true or false"
    case "TypeLiteral":
      return said ?? "keys with values"
    case "TupleType":
      return said ?? "a list"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Union":
      return said ?? ast.types.map(expectation).join(" or ")
    case "Refinement":
      return said ?? expectation(ast.from)
    default:
      return said ?? String(ast)
  }
}

/** Whether a text would be right where there is something else. */
export const takesText = <A, I>(schema: Schema.Schema<A, I>, path: Path): boolean => {
  let ast: AST.AST | undefined = schema.ast
  for (const step of path) ast = ast && inner(ast, step)
  return ast !== undefined && mayBeText(ast)
}

const mayBeText = (ast: AST.AST): boolean =>
  AST.isStringKeyword(ast) ||
  (AST.isRefinement(ast) && mayBeText(ast.from)) ||
  (AST.isUnion(ast) && ast.types.some(mayBeText))

const inner = (ast: AST.AST, step: PropertyKey): AST.AST | undefined => {
  if (AST.isRefinement(ast)) return inner(ast.from, step)
  if (AST.isUnion(ast)) return ast.types.map((type) => inner(type, step)).find((type) => type !== undefined)
  if (AST.isTupleType(ast)) return ast.rest[0]?.type
  if (!AST.isTypeLiteral(ast)) return undefined
  return ast.propertySignatures.find(({ name }) => name === step)?.type ?? ast.indexSignatures[0]?.type
}

/** The keys of what keys of a Schema hold, each with its path: `topK` and `rag.topK`. */
export const innerKeys = <A, I>(schema: Schema.Schema<A, I>): ReadonlyArray<readonly [key: string, path: string]> =>
  AST.getPropertySignatures(schema.ast).flatMap(({ name, type }) =>
    AST.isTypeLiteral(type)
      ? type.propertySignatures.map(
          (property) => [String(property.name), `${String(name)}.${String(property.name)}`] as const
        )
      : []
  )
