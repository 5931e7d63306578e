/**
 * The memory of an agent, as a handler: it shows the model what the context mode
 * lets it see of the session's conversations, and keeps the exchange when the run
 * has ended well.
 */
import { Handler } from "@heddle/core"

/** The handler. */
export const handler = (): Handler.Handler => Handler.make("memory", {})
