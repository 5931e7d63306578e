import { Instructions, Message } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"

/** Stands in for a model: it asks for the temperature, and tells what it was told. */
export const Model = ScriptedModel.layer((request) => {
  const outcome = request.history.flatMap(Message.toolCalls).at(-1)?.outcome
  if (outcome === undefined) {
    const city = /in (\w+)/.exec(Message.text(request.history.at(-1)!))?.[1]
    return { calls: [{ tool: "temperature", arguments: city === undefined ? {} : { city } }] }
  }
  return `[${Instructions.render(request.instructions).replaceAll("\n\n", " ")}] ${Message.renderOutcome(outcome)}`
})
