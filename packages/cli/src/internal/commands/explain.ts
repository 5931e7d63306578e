/** `heddle explain`: what an agent comes to, and what a model would be told. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CliOptions from "@effect/cli/Options"
import { Session } from "@heddle/memory"
import { HistoryStore } from "@heddle/workflow"
import { FileSystem } from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Agents from "../agents/Agents.ts"
import { inMode } from "../agents/build.ts"
import { explained, preview } from "../agents/explained.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { Project } from "../Project.ts"
import { running } from "../running.ts"
import { find } from "../sessions/find.ts"
import { explanationJson, explanationText } from "../show/explanation.ts"
import { jsonText } from "../text.ts"
import { ofProject } from "../workflow/history.ts"
import { contextMode, database, inProject, json, model, session, sessionName } from "./common.ts"

const agent = Args.text({ name: "agent" }).pipe(Args.withDescription("The name of the agent."))
const prompt = CliOptions.text("prompt").pipe(
  CliOptions.withDescription("What it would be asked."),
  CliOptions.withDefault("Hello")
)

/** The session of an agent that is asked in none. Nothing is in it. */
const unnamed = "explain"

/** `heddle explain` */
export const explain = Command.make(
  "explain",
  { agent, contextMode, session, prompt, model, json, db: database },
  (given) =>
    inProject(
      Effect.gen(function* () {
        const name = yield* sessionName(given.session)
        const { database, root } = yield* Project
        const fs = yield* FileSystem
        const isThere = yield* Effect.orElseSucceed(fs.exists(database), () => true)
        // A file is not made to look for a session in it.
        const keep = name !== undefined && isThere
        yield* running({ model: Option.getOrUndefined(given.model), keep }, ({ agents, options }) =>
          Effect.gen(function* () {
            const { out } = yield* Output
            const found = yield* Agents.find(agents, given.agent)
            if (name !== undefined) {
              yield* Effect.updateService(find(name), HistoryStore.HistoryStore, ofProject(root))
            }
            const mode = Option.getOrUndefined(given.contextMode)
            if (mode !== undefined) yield* inMode(found, mode)
            const file = mode === undefined ? found : { ...found, head: { ...found.head, contextMode: mode } }
            const { settings, ...rest } = yield* explained(file, options)
            const all = {
              ...rest,
              settings: settings.map((setting) =>
                mode !== undefined && setting.key === "contextMode" ? { ...setting, from: "--context-mode" } : setting
              )
            }
            const request =
              all.problems.length > 0
                ? undefined
                : yield* Session.within(name ?? unnamed)(preview(file, options, given.prompt))
            yield* out.write(
              given.json ? `${jsonText(explanationJson(all, request))}\n` : explanationText(all, request, out)
            )
            if (all.problems.length > 0) {
              return yield* usage([`The agent "${found.name}" cannot be run:`, ...all.problems].join("\n  "))
            }
          })
        )
      }),
      given
    )
).pipe(
  Command.withDescription(
    "Tells what an agent comes to: its settings and where each came from, its handlers and tools, and what a model would be told. Nothing is asked and nothing is kept."
  )
)
