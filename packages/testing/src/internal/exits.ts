/**
 * Laws 4, 5 and 13: how a run is left.
 */
import { Call, Handler } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { balanced, calm, choose, law, type Law, probes, violated } from "./trial.ts"
import { interruption } from "./outcome.ts"
import { probe } from "./probes.ts"
import type { Point } from "./world.ts"

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

const finishers: ReadonlyArray<(point: Point) => Handler.Any> = [
  (point) => Handler.beforeAgent(() => Effect.zipRight(point("finish>"), Handler.finish("finished"))),
  (point) => Handler.beforeModel(() => Effect.zipRight(point("finish>"), Handler.finish("finished"))),
  (point) => Handler.afterModel(() => Effect.zipRight(point("finish>"), Handler.finish("finished"))),
  (point) => Handler.wrapAgent(() => Call.fromEffect(Effect.zipRight(point("finish>"), Handler.finish("finished")))),
  (point) =>
    Handler.wrapModelCall(() => Call.fromEffect(Effect.zipRight(point("finish>"), Handler.finish("finished")))),
  (point) => Handler.wrapToolCall(() => Call.fromEffect(Effect.zipRight(point("finish>"), Handler.finish("finished"))))
]

/** 5. A finish from any hook of any handler ends the run with that answer and leaves every handler that was entered. */
export const position: Law = law(5, "position: a finish from any hook ends the run", async (trial, world) => {
  const finisher = choose(world, finishers)
  const first = choose(world, [true, false], finishers.length)
  const { exit, log } = await trial.run(calm(world), {
    around: (_, point) => {
      const before = [probe("a", point), ...(first ? [finisher(point)] : [])]
      const after = [...(first ? [] : [finisher(point)]), probe("b", point)]
      return trial.around(before, after)
    }
  })
  balanced(log)
  const at = log.indexOf("finish>")
  if (at < 0) return
  if (!(Exit.isSuccess(exit) && exit.value.end === "finish")) {
    // Tools that run beside the one that finishes may have failed the run before.
    if (Exit.isFailure(exit) && log.slice(0, at).some((entry) => entry.startsWith("tool>"))) return
    violated(`the run went on after a finish: ${log.slice(at).join(" ")}`)
  }
  const started = log.slice(at).filter((entry) => entry === "model>")
  if (started.length > 0) violated(`the model was called after a finish: ${log.slice(at).join(" ")}`)
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
