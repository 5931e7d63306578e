/**
 * Our tools as @effect/ai offers them to a model, to be called and not to be
 * run; and how theirs are described.
 */
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import type { Tool, Tools } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Tools of theirs, by name. */
export type AnyTools = { readonly [name: string]: AiTool.Any }

/** A schema that lets everything through and says what is wanted. Checking is for the loop that runs the tools. */
export const permissive = (jsonSchema: object): Schema.Schema<unknown> => Schema.Unknown.annotations({ jsonSchema })

/** The parameters of a tool of theirs: not of the types that they foresee, but all that is asked of it is its `ast`. */
export const parameters = (jsonSchema: object) => permissive(jsonSchema) as unknown as AiTool.EmptyParams

const offer = (tool: Tool.Any): AiTool.Any =>
  AiTool.make(tool.name, {
    description: tool.description,
    success: Schema.Unknown,
    failure: Schema.Unknown
  }).setParameters(parameters(tool.jsonSchema))

/** Tools are values, so what was made of them holds. */
const made = new WeakMap<Tools.Tools<unknown, unknown>, Toolkit.WithHandler<AnyTools>>()

/** A toolkit of the tools of a request, and of tools that the provider runs. */
export const toolkitOf = (
  tools: Tools.Tools<unknown, unknown>,
  provided: ReadonlyArray<AiTool.Any>
): Toolkit.WithHandler<AnyTools> => {
  const own = made.get(tools) ?? withoutHandlers(Array.from(tools, offer))
  made.set(tools, own)
  return provided.length === 0 ? own : withoutHandlers([...Object.values(own.tools), ...provided])
}

const withoutHandlers = (tools: ReadonlyArray<AiTool.Any>): Toolkit.WithHandler<AnyTools> => ({
  tools: Object.fromEntries(tools.map((tool) => [tool.name, tool])),
  handle: (name) => Effect.dieMessage(`The tool "${String(name)}" is run by the agent's loop.`)
})

// These two ask for the type parameters of a tool and read its parameters' `ast` alone.
type Described = Parameters<typeof AiTool.getJsonSchema>[0]

/** The description of a tool, or of its parameters. */
export const description = (tool: AiTool.Any): string => AiTool.getDescription(tool as Described) ?? ""

/** The JSON Schema of the parameters of a tool. None at all would be anything but null, so it is said for them. */
export const jsonSchema = (tool: AiTool.Any): object =>
  tool.parametersSchema === AiTool.EmptyParams
    ? { type: "object", properties: {}, additionalProperties: false }
    : AiTool.getJsonSchema(tool as Described)
