/**
 * Laws 4, 5 and 13: how a run is left.
 */
import { Call, Handler } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { balanced, calm, choose, law, type Law, probes, violated } from "./trial.ts"
import { interruption, type Log } from "./outcome.ts"
import { probe } from "./probes.ts"

/** 4. What was entered once is left once, in reverse, however the run ends. */
export const finalizer: Law = law(4, "finalizer: what was entered is left once, in reverse", async (trial, world) => {
  const around = probes(trial)
  const undisturbed = await trial.run(world, { around })
  balanced(undisturbed.log)
  const interruptAt = world.pick % Math.max(1, undisturbed.log.length)
  const { exit, log } = await trial.run(world, { around, interruptAt })
  balanced(log)
  if (Exit.isFailure(exit) && log.filter((entry) => entry === "a.wrapAgent<").length !== 1)
    violated("the outermost handler was not left")
})

const answer = "finished"

const finishers: ReadonlyArray<(finish: Effect.Effect<never, Handler.Finish>) => Handler.Any> = [
  (finish) => Handler.beforeAgent(() => finish),
  (finish) => Handler.beforeModel(() => finish),
  (finish) => Handler.afterModel(() => finish),
  (finish) => Handler.wrapAgent(() => Call.fromEffect(finish)),
  (finish) => Handler.wrapModelCall(() => Call.fromEffect(finish)),
  (finish) => Handler.wrapToolCall(() => Call.fromEffect(finish)),
  (finish) => Handler.wrapAgent((run, next) => Call.tapValue(next(run), () => finish)),
  (finish) => Handler.wrapModelCall((request, next) => Call.tapValue(next(request), () => finish)),
  (finish) => Handler.wrapToolCall((request, next) => Call.tapValue(next(request), () => finish))
]

/** Notes the answer of each result that comes out to it. */
const listener = (answers: Array<string>) =>
  Handler.wrapAgent((run, next) => Call.tapValue(next(run), ({ text }) => void answers.push(text)), "listener")

/** How many calls of the last reply had begun. */
const toolsBegun = (log: Log) =>
  log.slice(log.lastIndexOf("model>") + 1).filter((entry) => entry === "a.wrapToolCall>").length

/**
 * 5. A finish from any hook of any handler, before or after `next`, ends the run
 * with that answer and leaves every handler that was entered. What comes out of
 * the loop is that answer; a `wrapAgent` around it may still make another of it,
 * as of every result.
 */
export const position: Law = law(5, "position: a finish from any hook ends the run", async (trial, world) => {
  const finisher = choose(world, finishers)
  const first = choose(world, [true, false], finishers.length)
  const mode = choose(world, ["run", "stream"] as const, 2 * finishers.length)
  const answers: Array<string> = []
  const { exit, log } = await trial.run(calm(world), {
    mode,
    around: (_, point) => {
      const handler = finisher(Effect.zipRight(point("finish>"), Handler.finish(answer)))
      const before = [probe("a", point), listener(answers), ...(first ? [handler] : [])]
      const after = [listener(answers), ...(first ? [] : [handler]), probe("b", point)]
      return trial.around(before, after)
    }
  })
  balanced(log)
  const at = log.indexOf("finish>")
  if (at < 0) return
  const rest = log.slice(at).join(" ")
  // A tool that runs beside the one that finishes may have ended the run before.
  const beside = toolsBegun(log.slice(0, at)) > 1
  if (!(Exit.isSuccess(exit) && exit.value.end === "finish")) {
    if (Exit.isFailure(exit) && beside) return
    return violated(`the run went on after a finish: ${rest}`)
  }
  if (log.indexOf("model>", at) >= 0) violated(`the model was called after a finish: ${rest}`)
  if (!beside && !answers.includes(answer))
    violated(`not the answer of the finish came out, but ${JSON.stringify(answers)}: ${rest}`)
  if (exit.value.text !== answers.at(-1))
    violated(`${JSON.stringify(answers.at(-1))} came out, and the run gave ${JSON.stringify(exit.value.text)}`)
})

/** 13. No model or tool call starts after the run was interrupted. */
export const quietAfterCancel: Law = law(
  13,
  "quiet after cancel: nothing starts after an interruption",
  async (trial, world) => {
    const around = probes(trial)
    const undisturbed = await trial.run(world, { around })
    const interruptAt = world.pick % Math.max(1, undisturbed.log.length)
    const { log } = await trial.run(world, { around, interruptAt })
    const late = log.slice(log.indexOf(interruption)).filter((entry) => entry === "model>" || entry.startsWith("tool>"))
    if (log.includes(interruption) && late.length > 0) violated(`started after the interruption: ${log.join(" ")}`)
  }
)
