/**
 * The section of the instructions that tells the model what it can see of a
 * session, and what it cannot. It has a source of its own, so that a handler after
 * the memory can change it or take it out.
 *
 * @example
 * ```ts
 * import { Handler, Instructions } from "@heddle/core"
 * import { ContextSection } from "@heddle/memory"
 *
 * const silent = Handler.mapInstructions(Instructions.remove(ContextSection.source))
 * ```
 */
import type { Name } from "./ContextMode.ts"

/** The source of the section. */
export const source = "context-mode"

/** The source of the sections that hold summaries. */
export const summarySource = "memory-summary"

/** What a run sees, for whoever writes the section. */
export interface ContextView {
  readonly mode: Name
  /** The name of the agent. */
  readonly agent: string
  /** Whether nothing was said yet in its own conversation; of `shared` and `fork`, in the main one. */
  readonly first: boolean
  /** Exchanges that are shown. */
  readonly shown: number
  /** Exchanges that are there, of the conversations that the mode sees. */
  readonly total: number
  /** Exchanges that are neither shown nor in a summary. */
  readonly hidden: number
  /** Whether a summary stands for some of them. */
  readonly summarized: boolean
}

const noAccess = (mode: Name): string =>
  `If you are asked about something that was said elsewhere, do not guess: say that you run in ${mode} context mode and cannot see it, and ask for the text that is meant.`

/** The section, unless another is asked for. */
export const text = (view: ContextView): string => `Context mode: ${view.mode}. ${body(view)}`

const body = ({ first, hidden, mode, summarized }: ContextView): string => {
  const part = hidden > 0 ? " Only a part of it is shown to you." : ""
  const own = first
    ? "This is your first exchange here, so there is nothing earlier that you could refer to."
    : `You see your own earlier exchanges here and can refer to them.${part}`
  switch (mode) {
    case "isolated":
      return `The main conversation is not visible to you. ${own} ${noAccess(mode)}`
    case "hybrid":
      return `The main conversation is not visible to you. ${own} A short report of your answer is added to the main conversation. ${noAccess(mode)}`
    case "shared":
      return `You see the main conversation and can refer to what was said in it.${part} What is asked and answered now becomes a part of it.`
    case "selective":
      return `Of the main conversation you see only the exchanges that match your topics, with gaps between them, and then your own earlier exchanges. Do not take what you see for all that was said. Your answer is not added to the main conversation.`
    case "summarized":
      return `Of the main conversation you see ${summarized ? "a summary and the last exchanges" : "the last exchanges"}, and then your own earlier exchanges. Details may be missing. Your answer is not added to the main conversation.`
    case "fork":
      return `You work on a copy of the main conversation as it was when you were called.${part} You can refer to what was said in it; nothing that you say is added to it.`
  }
}
