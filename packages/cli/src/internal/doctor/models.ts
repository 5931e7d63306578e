/** Looks at which model answers, and which others could. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Environment } from "../Environment.ts"
import { Extensions } from "../Extensions.ts"
import { choose, models, offline } from "../models/choose.ts"
import { lookEverywhere } from "../models/detect.ts"
import { Project } from "../Project.ts"
import { check } from "./Check.ts"

/** The model of agents that name none, then what else there is. Keys are set or not; what they are is not told. */
export const lookAtModels = Effect.gen(function* () {
  const environment = yield* Environment
  const { providers } = yield* Extensions
  const { config } = yield* Project
  const choice = yield* choose(undefined)
  const entry = models(config, providers, environment).entry(choice.model)
  const found = `${choice.model} (${choice.from})`
  const first = Either.isLeft(entry)
    ? check("broken", "model", `${found}: ${entry.left}`)
    : choice.model === offline
      ? check(
          "warning",
          "model",
          `${found}, which only quotes what it finds`,
          "Set one of the keys below, start Ollama, or name a model with --model."
        )
      : check("ok", "model", found)
  const others = (yield* lookEverywhere).map(({ found, model, remedy, what }) =>
    check(
      model === undefined ? "absent" : "ok",
      what,
      model === undefined ? found : `${found}: ${model}`,
      // Where a model answers, others need not.
      first.state === "ok" ? undefined : remedy
    )
  )
  return [first, ...others]
})
