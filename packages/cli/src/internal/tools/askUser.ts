/** Asks the person at the terminal. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { unhurried } from "../agents/timeLimit.ts"
import { Asking } from "../Asking.ts"
import { clean } from "../text.ts"
import { refused, textTool } from "./tool.ts"

export const askUser = textTool({
  name: "ask_user",
  description: "Asks the user a question, and gives the answer. For what only the user knows or decides.",
  parameters: Schema.Struct({ question: Schema.String.annotations({ description: "What to ask." }) }),
  annotations: { readOnly: true },
  execute: ({ question }) =>
    Effect.gen(function* () {
      const asking = yield* Asking
      const answer = yield* Effect.mapError(unhurried(asking.ask(`${clean(question).trim()}\n> `)), () =>
        refused("There is nobody to ask. Go on without, or say what you need to know.")
      )
      return answer.trim() === "" ? "(The user said nothing.)" : answer
    })
})
