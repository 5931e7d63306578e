/**
 * Laws 1 to 3: how handlers are put together.
 */
import { Handler, Instructions, Pipeline } from "@heddle/core"
import { choose, law, type Law, probes, same, violated } from "./trial.ts"
import { identity } from "./probes.ts"

/** 1. A handler that only forwards changes nothing: value, error identity, parts, state. */
export const identityLaw: Law = law(
  1,
  "identity: a handler that only forwards changes nothing",
  async (trial, world) => {
    const mode = choose(world, ["run", "stream"] as const)
    const alone = await trial.run(world, { mode })
    same("before it", alone, await trial.run(world, { mode }, trial.around([identity("id")], [])))
    same("after it", alone, await trial.run(world, { mode }, trial.around([], [identity("id")])))
  }
)

/** 2. Grouping handlers in sub-pipelines changes nothing, and `empty` is the unit. */
export const associativity: Law = law(2, "associativity: grouping changes nothing", async (trial, world) => {
  const { compose, handler } = trial.subject
  const a = Handler.wrapModelCall(
    (request, next) => next({ ...request, instructions: Instructions.append(request.instructions, "A") }),
    "a"
  )
  const b = Handler.wrapModelCall(
    (request, next) => next({ ...request, instructions: Instructions.append(request.instructions, "B") }),
    "b"
  )
  const flat = await trial.run(world, {}, compose(a, handler, b))
  same("to the left", flat, await trial.run(world, {}, compose(compose(a, handler), b)))
  same("to the right", flat, await trial.run(world, {}, compose(a, compose(handler, b))))
  same(
    "with empty",
    flat,
    await trial.run(world, {}, compose(Pipeline.empty, a, compose(Pipeline.empty, handler), b, Pipeline.empty))
  )
})

/** 3. Before- and after-hooks run in pipeline order; wraps nest, the first outermost. */
export const order: Law = law(3, "order: hooks run in pipeline order, wraps nest", async (trial, world) => {
  const { log } = await trial.run(world, { around: probes(trial) })
  for (const hook of ["beforeModel", "afterModel"]) {
    const seen = log.filter((entry) => entry.endsWith(`.${hook}`))
    seen.forEach((entry, i) => {
      if (entry === `b.${hook}` && seen[i - 1] !== `a.${hook}`)
        violated(`b.${hook} ran without a.${hook} before it: ${seen.join(" ")}`)
    })
  }
  for (const hook of ["wrapAgent", "wrapModelCall", "wrapToolCall"]) {
    let open = { a: 0, b: 0 }
    for (const entry of log) {
      if (!entry.includes(`.${hook}`)) continue
      const who = entry.startsWith("a.") ? "a" : "b"
      open = { ...open, [who]: open[who] + (entry.endsWith(">") ? 1 : -1) }
      if (open.b > 0 && open.a === 0) violated(`b.${hook} was open outside of a.${hook}: ${log.join(" ")}`)
    }
  }
})
