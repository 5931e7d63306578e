/**
 * The list of tools that a server gives, one page of it.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Limits } from "../../mcp.ts"
import type { ToolDefinition } from "../../ToolProvider.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { nullable: true })

/** A page, its tools not yet looked at: one that makes no sense does not take the others with it. */
export const Page = Schema.Struct({ tools: Schema.Array(Schema.Unknown), nextCursor: optional(Schema.String) })

const longestName = 256

/** The annotations have a title for people, too. */
const Listed = Schema.Struct({
  name: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(longestName)),
  title: optional(Schema.String),
  description: optional(Schema.String),
  inputSchema: Schema.declare(
    (u: unknown): u is object => typeof u === "object" && u !== null && "type" in u && u.type === "object"
  ),
  execution: optional(Schema.Struct({ taskSupport: optional(Schema.String) })),
  annotations: optional(
    Schema.Struct({
      title: optional(Schema.String),
      readOnlyHint: optional(Schema.Boolean),
      destructiveHint: optional(Schema.Boolean),
      idempotentHint: optional(Schema.Boolean)
    })
  )
})
const decode = Schema.decodeUnknownEither(Listed)

/** A tool of the list, or why it cannot be one, in words that hold no secret. */
export const definition = (tool: unknown, limits: Limits, clean: (text: string) => string): ToolDefinition | string => {
  const listed = decode(tool)
  if (Either.isLeft(listed)) return `${nameOf(tool, clean)} is not described as a tool is`
  const { annotations = {}, description, execution, inputSchema, name } = listed.right
  if (execution?.taskSupport === "required") return `${nameOf(tool, clean)} can only be run as a task`
  if (!isWithin(inputSchema, limits.schema)) {
    return `${nameOf(tool, clean)} has a schema of more than ${limits.schema} characters, or none that is JSON`
  }
  const title = listed.right.title ?? annotations.title
  const readOnly = annotations.readOnlyHint === true
  return {
    name,
    description: cut(description ?? title ?? "", limits.description),
    jsonSchema: inputSchema,
    ...(title !== undefined && { title: cut(title, longestName) }),
    // The protocol's defaults: what is not said to be harmless may destroy.
    annotations: {
      readOnly,
      destructive: !readOnly && annotations.destructiveHint !== false,
      idempotent: readOnly || annotations.idempotentHint === true
    }
  }
}

const nameOf = (tool: unknown, clean: (text: string) => string): string => {
  const name = typeof tool === "object" && tool !== null && "name" in tool ? tool.name : undefined
  // A secret that is cut or quoted is not found any more.
  return typeof name === "string" ? JSON.stringify(cut(clean(name), 64)) : "a tool without a name"
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

const isWithin = (json: object, length: number): boolean => {
  try {
    return JSON.stringify(json).length <= length
  } catch {
    // It is nested too deeply.
    return false
  }
}
