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

/** How much of a conversation a run sees, in exchanges. */
export interface ConversationView {
  /** Those that are there; in a `fork` also those that are going on. */
  readonly total: number
  readonly shown: number
  /** Those that are neither shown nor in a summary. */
  readonly hidden: number
  /** Whether a summary stands for the beginning. */
  readonly summarized: boolean
}

/** What a run sees, for whoever writes the section. The numbers are those of the conversations that the mode sees, together. */
export interface ContextView extends ConversationView {
  readonly mode: Name
  /** The name of the agent. */
  readonly agent: string
  /** Whether nothing was said yet in its own conversation; of `shared` and `fork`, in the main one. */
  readonly first: boolean
  /** Of the main conversation, if the mode sees it. */
  readonly main?: ConversationView
  /** Of its own conversation, if the mode sees it. */
  readonly own?: ConversationView
}

/** The section, unless another is asked for. */
export const text = (view: ContextView): string => `Context mode: ${view.mode}. ${body(view)}`

const none: ConversationView = { total: 0, shown: 0, hidden: 0, summarized: false }

const body = ({ main = none, mode, own = none }: ContextView): string => {
  switch (mode) {
    case "isolated":
      return `The main conversation is not visible to you. ${ownAlone(own)} ${noAccess(mode)}`
    case "hybrid":
      return `The main conversation is not visible to you. ${ownAlone(own)} A short report of your answer is added to the main conversation. ${noAccess(mode)}`
    case "shared":
      return `${mainOf(main)} What is asked and answered now becomes a part of it.`
    case "selective":
      return `${matchesOf(main)} ${ownBehind(main, own)} ${notAdded}`
    case "summarized":
      return `${gistOf(main)} ${ownBehind(main, own)} ${notAdded}`
    case "fork":
      return `You work on a copy of the main conversation as it was when you were called. ${mainOf(main)} Nothing that you say is added to it.`
  }
}

const noAccess = (mode: Name): string =>
  `If you are asked about something that you do not see, do not guess: say that you run in ${mode} context mode and cannot see it, and ask for the text that is meant.`

const notAdded = "Your answer is not added to the main conversation."

/** Whether there is something, but nothing of it is shown. */
const isUnseen = ({ shown, summarized, total }: ConversationView): boolean => total > 0 && shown === 0 && !summarized

/** What is said besides where not all is shown. */
const part = (of: string, { hidden }: ConversationView): string =>
  hidden > 0 ? ` Only a part of ${of} is shown to you.` : ""

const mainOf = (main: ConversationView): string => {
  if (main.total === 0) return "Nothing was said in the main conversation yet."
  if (isUnseen(main)) return "Nothing that was said in the main conversation is shown to you."
  const what = `${main.summarized ? `a summary of ${main.shown > 0 ? "the beginning of " : ""}` : ""}the main conversation`
  const rest = main.summarized && main.shown > 0 ? " and its last exchanges" : ""
  return `You see ${what}${rest} and can refer to what was said in it.${part("it", main)}`
}

const matchesOf = (main: ConversationView): string => {
  if (main.total === 0) return "Nothing was said in the main conversation yet."
  const matches = "Of the main conversation you see only exchanges that match your topics"
  if (isUnseen(main)) return `${matches}; at the moment none is shown to you.`
  return main.hidden > 0
    ? `${matches}, with gaps between them. Do not take what you see for all that was said.`
    : "You see the main conversation: all that was said in it matches your topics."
}

const gistOf = (main: ConversationView): string => {
  if (main.total === 0 || isUnseen(main)) return mainOf(main)
  if (!main.summarized) return `You see the ${main.hidden > 0 ? "last exchanges of the " : ""}main conversation.`
  const rest = main.shown > 0 ? " and the last exchanges" : ""
  return `Of the main conversation you see a summary${rest}. Details may be missing.${part("it", main)}`
}

const ownAlone = (own: ConversationView): string =>
  own.total === 0
    ? "This is your first exchange here, so there is nothing earlier that you could refer to."
    : ownOf("You see", own)

const ownBehind = (main: ConversationView, own: ConversationView): string =>
  own.total === 0 ? "This is your first exchange here." : ownOf(main.shown > 0 ? "After that you see" : "You see", own)

const ownOf = (see: string, own: ConversationView): string => {
  if (isUnseen(own)) return "You had exchanges here before, but none of them is shown to you."
  const what = own.summarized
    ? `a summary of your own earlier exchanges here${own.shown > 0 ? ", and the last of them," : ""}`
    : "your own earlier exchanges here"
  return `${see} ${what} and can refer to them.${part("them", own)}`
}
