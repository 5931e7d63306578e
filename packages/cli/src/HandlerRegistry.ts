/**
 * Handlers that agent files can name, each with the options that it takes.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { HandlerRegistry } from "@heddle/cli"
 * import { Schema } from "effect"
 *
 * const signed = HandlerRegistry.define({
 *   description: "Has the answer signed.",
 *   options: Schema.Struct({ name: Schema.String }),
 *   make: ({ name }) => Handler.instructions(`Sign your answer with "${name}".`)
 * })
 * ```
 */
export { define, type Definition, type Registry, type Services } from "./internal/agents/definition.ts"
export { builtIn } from "./internal/agents/handlers.ts"
