/**
 * The result of a tool as the outcome of its call.
 */
import { Message } from "@heddle/core"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Limits, Options } from "../../mcp.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { nullable: true })

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
const Media = Schema.Struct({ type: Schema.Literal("image", "audio"), data: Schema.String, mimeType: Schema.String })
const Resource = Schema.Struct({
  type: Schema.Literal("resource"),
  resource: Schema.Struct({
    uri: Schema.String,
    mimeType: optional(Schema.String),
    text: optional(Schema.String),
    blob: optional(Schema.String)
  })
})
const Link = Schema.Struct({
  type: Schema.Literal("resource_link"),
  uri: Schema.String,
  name: Schema.String,
  title: optional(Schema.String),
  description: optional(Schema.String),
  mimeType: optional(Schema.String),
  size: optional(Schema.Number)
})
const Block = Schema.Union(Text, Media, Resource, Link)
type Block = typeof Block.Type

const Result = Schema.Struct({
  content: Schema.optionalWith(Schema.Array(Block), { default: () => [], nullable: true }),
  structuredContent: optional(Schema.Object),
  isError: optional(Schema.Boolean)
})
const decode = Schema.decodeUnknownEither(Result)

/** What is done to a result: how large it may be, what becomes of files, and what its failures must not say. */
interface Reading {
  readonly limits: Limits
  readonly files: Options["files"]
  readonly clean: (text: string) => string
}

/** The outcome of a result; nothing if it is not what the protocol says. */
export const outcome = (
  tool: string,
  result: unknown,
  { clean, files = "describe", limits }: Reading
): Message.ToolOutcome | undefined => {
  const decoded = decode(result)
  if (Either.isLeft(decoded)) return undefined
  const { content, isError, structuredContent } = decoded.right
  const isText = content.every((block) => block.type === "text")
  const blocks = isText ? content.map((block) => block.text).join("\n") : content.map((block) => json(block, files))
  // Text beside structured content is the same once more, for those who cannot read it.
  const value =
    structuredContent === undefined ? blocks : isText ? structuredContent : { structuredContent, content: blocks }
  const size = typeof value === "string" ? value.length : sizeOf(value)
  const name = JSON.stringify(clean(tool))
  if (size === undefined) {
    return Message.failed(`The result of tool ${name} is nested too deeply. Ask for less.`)
  }
  if (size > limits.result) {
    return Message.failed(
      `The result of tool ${name} is too large: it has ${size} characters, and ${limits.result} at most are taken. Ask for less.`
    )
  }
  if (isError !== true) return Message.succeeded(value)
  return isText && structuredContent === undefined
    ? Message.failed(blocks === "" ? "The tool failed without saying why." : clean(String(blocks)))
    : Message.failed("The tool failed.", cleaned(value, clean))
}

/** Characters of a value as JSON, unless it is nested too deeply for anybody to read. */
const sizeOf = (value: object): number | undefined => {
  try {
    return JSON.stringify(value).length
  } catch {
    return undefined
  }
}

/** A value whose texts and keys are all clean; nothing where it is nested more deeply than that can be said of it. */
const cleaned = (value: unknown, clean: (text: string) => string): unknown => {
  const inside = (_: string, inner: unknown): unknown => {
    if (typeof inner === "string") return clean(inner)
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, field]) => [clean(key), field]))
  }
  try {
    return JSON.parse(JSON.stringify(value), inside)
  } catch {
    return undefined
  }
}

/** A block as JSON. The names are those of a `Message.File`. */
const json = (block: Block, files: Options["files"]): object => {
  switch (block.type) {
    case "text":
      return block
    case "image":
    case "audio":
      return { type: block.type, ...file(block.mimeType, block.data, files) }
    case "resource_link": {
      const { mimeType, ...rest } = block
      return { ...rest, ...(mimeType !== undefined && { mediaType: mimeType }) }
    }
    case "resource": {
      const { blob, mimeType, text, uri } = block.resource
      return {
        type: "resource",
        uri,
        ...(mimeType !== undefined && { mediaType: mimeType }),
        ...(text !== undefined ? { text } : file(mimeType, blob ?? "", files))
      }
    }
  }
}

/** A file in base64: its size, and its data if that is wanted. A model cannot see what is in it. */
const file = (mediaType: string | undefined, data: string, files: Options["files"]): object => ({
  ...(mediaType !== undefined && { mediaType }),
  bytes: Math.floor((data.replace(/=+$/, "").length * 3) / 4),
  ...(files === "base64" && { data })
})
