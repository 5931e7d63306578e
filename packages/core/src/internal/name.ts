import { DefinitionError } from "../Errors.ts"

// What both OpenAI and Anthropic take.
const legal = /^[a-zA-Z0-9_-]{1,64}$/

/** Refuses a name that a provider would refuse. */
export const toolName = (name: string): string => {
  if (typeof name === "string" && legal.test(name)) return name
  const why = name === "" ? "is empty" : "may hold letters, digits, `_` and `-` only, 64 at most"
  throw new DefinitionError(`The tool name ${JSON.stringify(name)} ${name === "" ? why : `is illegal: it ${why}`}.`)
}

/** Refuses a value without a name. */
export const requireName = (kind: string, name: unknown): string => {
  if (typeof name === "string" && name.trim() !== "") return name
  throw new DefinitionError(`${kind} needs a name, and ${JSON.stringify(name) ?? String(name)} is none.`)
}
