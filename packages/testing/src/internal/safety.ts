/**
 * Law 14: what becomes of a run when a handler's own call of the model fails.
 */
import { Pipeline } from "@heddle/core"
import * as Exit from "effect/Exit"
import type { Outcome } from "./outcome.ts"
import { calm, law, type Law, violated } from "./trial.ts"

const isOwn = ({ purpose }: Outcome["requests"][number]): boolean => purpose !== "agent"

const histories = (outcome: Outcome): ReadonlyArray<string> =>
  outcome.requests.filter((request) => !isOwn(request)).map(({ history }) => JSON.stringify(history))

/**
 * 14. A handler that calls the model on its own account (with a `purpose` other than
 * `"agent"`: to summarize, to judge) and is let down either fails the run, or lets
 * the model see the history as it would be without the handler. Says nothing of a
 * handler that makes no such calls.
 */
export const safeFailure: Law = law(
  14,
  "safe failure: a handler whose own call of the model fails changes no history",
  async (trial, world) => {
    const failing = await trial.run(calm(world), { ownCalls: "fail" })
    if (!failing.requests.some(isOwn) || Exit.isFailure(failing.exit)) return
    const without = new Set(histories(await trial.run(calm(world), {}, Pipeline.empty)))
    for (const history of histories(failing)) {
      if (!without.has(history)) {
        violated(
          `after its own call failed, the model saw\n${history}\n-- in place of one of --\n${[...without].join("\n")}`
        )
      }
    }
  }
)
