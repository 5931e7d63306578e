/** `heddle run`: one run of an agent. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Agent } from "@heddle/core"
import { Session } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Agents from "../agents/Agents.ts"
import { Output } from "../Output.ts"
import { running } from "../running.ts"
import { contextMode, database, inProject, json, model, session } from "./common.ts"

const agent = Args.text({ name: "agent" }).pipe(Args.withDescription("The name of the agent."))
const prompt = Args.text({ name: "prompt" }).pipe(
  Args.withDescription("What it is asked; standard input unless said."),
  Args.optional
)

/** `heddle run` */
export const run = Command.make("run", { agent, prompt, contextMode, session, model, json, db: database }, (given) =>
  inProject(
    running({ model: Option.getOrUndefined(given.model), keep: Option.isSome(given.session) }, ({ agents, build }) =>
      Effect.gen(function* () {
        const runnable = yield* build(yield* Agents.find(agents, given.agent))
        const { out } = yield* Output
        yield* Agent.stream(
          runnable,
          Option.getOrElse(given.prompt, () => "")
        ).pipe(
          Stream.runForEach((event) => (event._tag === "Text" ? out.write(event.text) : Effect.void)),
          Session.within(Option.getOrElse(given.session, () => "run"))
        )
        yield* out.write("\n")
      })
    ),
    given
  )
).pipe(Command.withDescription("Runs an agent once."))
