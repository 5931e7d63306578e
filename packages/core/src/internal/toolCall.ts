/**
 * A call of a tool: what is asked, what is emitted, and how that folds to an outcome.
 */
import type * as Call from "../Call.ts"
import * as Message from "../Message.ts"
import type { Any } from "../Tool.ts"

/** A tool call on its way to its tool. A handler passes it on, changed if it likes. */
export interface ToolRequest {
  readonly id: string
  readonly name: string
  /** The arguments as the model gave them: JSON, not checked yet. */
  readonly arguments: unknown
  /** The tool that will run; `undefined` when there is none of that name. */
  readonly tool: Any | undefined
  /** The names of the tools that the model was offered. */
  readonly offered: ReadonlyArray<string>
}

/** A piece of a result that is text. */
export interface TextPart {
  readonly _tag: "Text"
  readonly text: string
}
/** News of a tool at work. Not part of its result, and not shown to the model. */
export interface ProgressPart {
  readonly _tag: "Progress"
  readonly value: unknown
}
/** How the call ended, in one piece. */
export interface DonePart {
  readonly _tag: "Done"
  readonly outcome: Message.ToolOutcome
}

/** What a tool call emits. */
export type ToolPart = TextPart | ProgressPart | DonePart

/** The run of a tool call. */
export type ToolRun<E = never, R = never> = Call.Call<ToolPart, Message.ToolOutcome, E, R>

/** The outcome is the last `Done`, or else the text that was emitted. */
export const fold: Call.Fold<ToolPart, Message.ToolOutcome> = {
  make: () => {
    let text = ""
    let outcome: Message.ToolOutcome | undefined
    return {
      add: (part) => {
        if (part._tag === "Text") text += part.text
        else if (part._tag === "Done") outcome = part.outcome
      },
      reset: () => {
        text = ""
        outcome = undefined
      },
      value: () => outcome ?? Message.succeeded(text)
    }
  },
  whole: (outcome) => [{ _tag: "Done", outcome }]
}
