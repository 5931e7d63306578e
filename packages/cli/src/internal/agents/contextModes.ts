/** What the context modes mean, for a person. */
import { unknownName } from "@heddle/core/names"
import { ContextMode } from "@heddle/memory"
import * as Either from "effect/Either"

/** What an agent sees of the conversation that it is asked in, by its context mode. */
export const contextModes: Readonly<Record<ContextMode.Name, string>> = {
  isolated: "sees what was said to it and by it alone, and nothing of the conversation",
  shared: "sees the whole conversation, and its part is a part of it",
  hybrid: "has a conversation of its own, and reports to the one that it is asked in",
  selective: "sees what fits its patterns (sharePatterns), besides its own part",
  summarized: "sees a summary of the conversation, besides its own part",
  fork: "begins with a copy of the conversation, and goes its own way from there"
}

/** The context mode of a name, or what is said of one that there is not. */
export const modeNamed = (name: string): Either.Either<ContextMode.Name, string> => {
  const mode = ContextMode.names.find((mode) => mode === name)
  return mode === undefined ? Either.left(unknownName("context mode", name, ContextMode.names)) : Either.right(mode)
}
