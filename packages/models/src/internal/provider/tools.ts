/**
 * Definitions of a provider as tools of the core.
 */
import { Call, Message, Tool, Tools } from "@heddle/core"
import type { ToolCall, ToolDefinition, ToolProviderError } from "../../ToolProvider.ts"
import { toolNames } from "./names.ts"

/** How the tools are named and run. */
interface Making {
  readonly prefix: string
  readonly execute: (call: ToolCall) => Tool.ToolRun<ToolProviderError>
  /** Whether an error fails the run, or goes back to the model. */
  readonly fail: boolean
}

/** The tools of definitions. Of two with one name of the provider the first counts: a call could not tell them apart. */
export const toTools = (
  definitions: ReadonlyArray<ToolDefinition>,
  { execute, fail, prefix }: Making
): Tools.Tools<ToolProviderError> => {
  const byName = new Map<string, ToolDefinition>()
  for (const definition of definitions) if (!byName.has(definition.name)) byName.set(definition.name, definition)
  const names = toolNames(prefix, Array.from(byName.keys()))
  return Tools.make(
    ...Array.from(byName.values(), (definition) => {
      const name = names.get(definition.name)!
      return Tool.fromJsonSchema({
        name,
        description: definition.description,
        jsonSchema: definition.jsonSchema,
        ...(definition.annotations && { annotations: definition.annotations }),
        execute: (args, { callId }) => {
          const run = execute({ id: callId, name: definition.name, arguments: args })
          return fail ? run : Call.orElse(run, (error) => Call.succeed(told(name, error)))
        }
      })
    })
  )
}

const told = (name: string, { message, reason }: ToolProviderError): Message.ToolOutcome =>
  Message.failed(`Tool "${name}" could not be run: ${message}`, { _tag: "ToolProviderError", reason })

/** Parts tools into those whose name is free and the names of those whose is not. */
export const withoutTaken = <E>(
  tools: Tools.Tools<E>,
  there: Tools.Tools<unknown, unknown>
): { readonly free: Tools.Tools<E>; readonly taken: ReadonlyArray<string> } => {
  const taken = tools.names.filter((name) => there.get(name) !== undefined)
  return { taken, free: taken.length === 0 ? tools : Tools.filter(tools, (tool) => there.get(tool.name) === undefined) }
}
