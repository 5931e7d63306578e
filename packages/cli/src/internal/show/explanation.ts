/** How what an agent comes to is written down. */
import { type ChatModel, Message, type Tool } from "@heddle/core"
import type { Explained } from "../agents/explained.ts"
import type { Sheet } from "../Output.ts"
import { clean, paint, short } from "../text.ts"

/** As plain data. */
export const explanationJson = (explained: Explained, request: ChatModel.ModelRequest | undefined): unknown => {
  const { file, pipeline, ...rest } = explained
  const { name, path, scope } = file
  return {
    agent: name,
    path,
    scope,
    ...rest,
    handlers: pipeline,
    ...(request !== undefined && {
      request: {
        instructions: request.instructions.sections,
        history: request.history,
        tools: [...request.tools].map(({ description, jsonSchema, name }: Tool.Any) => ({
          name,
          description,
          parameters: jsonSchema
        })),
        toolChoice: request.toolChoice,
        output: request.output,
        options: request.options
      }
    })
  }
}

/** For a person, with a line for each thing and all that the model would be told. */
export const explanationText = (
  explained: Explained,
  request: ChatModel.ModelRequest | undefined,
  sheet: Sheet
): string => {
  const { file, pipeline, servers, settings, tools } = explained
  const { head, name, path, scope } = file
  const lines: Array<string> = []
  const title = (text: string) => void lines.push("", paint(sheet, "bold", text))
  const listed = (text: string) =>
    void lines.push(
      ...clean(text)
        .split("\n")
        .map((line) => `  ${line}`)
    )

  lines.push(
    `${paint(sheet, "bold", short(head.title ?? name, 100))} (${name}, ${scope === "built-in" ? scope : clean(path)})`
  )
  if (head.description !== undefined) lines.push(clean(head.description))

  title("Settings")
  const longest = Math.min(24, Math.max(...settings.map(({ key }) => key.length)))
  for (const { from, key, value } of settings) {
    const said = typeof value === "string" ? value : (JSON.stringify(value) ?? "-")
    lines.push(`  ${key.padEnd(longest)}  ${short(said, 100)}  ${paint(sheet, "dim", `(${short(from, 100)})`)}`)
  }
  if (pipeline !== "") {
    title("Handlers, the outermost first")
    listed(pipeline)
  }
  if (tools.length > 0) {
    title("Tools")
    for (const { asks, description, from, name } of tools) {
      listed(`${name} (${from}${asks ? ", asks first" : ""}): ${short(description, 200)}`)
    }
  }
  if (servers.length > 0) {
    title("Servers of tools, which are asked in a run")
    for (const { at, name, prefix, variables } of servers) {
      const told = variables.length === 0 ? "" : `; is given ${variables.join(", ")}`
      listed(`${name}: ${short(at, 200)}; tools ${prefix}*${told}`)
    }
  }
  if (explained.problems.length > 0) return `${lines.join("\n")}\n`
  if (request === undefined) {
    lines.push("", "No model would be asked: a handler answers by itself, or fails.")
    return `${lines.join("\n")}\n`
  }
  title("What the model would be told")
  for (const { source, text } of request.instructions.sections) {
    lines.push(`  ${paint(sheet, "cyan", `instructions, from ${source === "" ? "the agent" : short(source, 60)}:`)}`)
    lines.push(
      ...clean(text)
        .split("\n")
        .map((line) => `    ${line}`)
    )
  }
  for (const message of request.history) {
    lines.push(`  ${paint(sheet, "cyan", `${message.role}:`)}`)
    lines.push(...messageLines(message).map((line) => `    ${line}`))
  }
  const names = [...request.tools].map(({ name }: Tool.Any) => name)
  if (names.length > 0) lines.push(`  ${paint(sheet, "cyan", "tools:")} ${names.join(", ")}`)
  return `${lines.join("\n")}\n`
}

const messageLines = (message: Message.Message): ReadonlyArray<string> =>
  message.content.flatMap((part) => {
    switch (part._tag) {
      case "Text":
        return clean(part.text).split("\n")
      case "File":
        return [`(a file, ${short(part.mediaType, 50)})`]
      case "Reasoning":
        return []
      case "ToolCall":
        return [
          `${part.name}(${short(JSON.stringify(part.arguments) ?? "", 200)}) → ${short(Message.renderOutcome(part.outcome), 200)}`
        ]
    }
  })
