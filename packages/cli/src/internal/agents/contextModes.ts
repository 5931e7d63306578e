/** What the context modes mean, for a person. */
import type { FrontMatter } from "./frontMatter.ts"

/** The name of a context mode. */
export type Mode = NonNullable<FrontMatter["contextMode"]>

/** What an agent sees of the conversation that it is asked in, by its context mode. */
export const contextModes: Readonly<Record<Mode, string>> = {
  isolated: "sees what was said to it and by it alone, and nothing of the conversation",
  shared: "sees the whole conversation, and its part is a part of it",
  hybrid: "has a conversation of its own, and reports to the one that it is asked in",
  selective: "sees what fits its patterns (sharePatterns), besides its own part",
  summarized: "sees a summary of the conversation, besides its own part",
  fork: "begins with a copy of the conversation, and goes its own way from there"
}

/** The names of the context modes. */
export const modeNames = Object.keys(contextModes) as ReadonlyArray<string> as ReadonlyArray<Mode>

/** Whether it is the name of one. */
export const isMode = (name: string): name is Mode => Object.hasOwn(contextModes, name)
