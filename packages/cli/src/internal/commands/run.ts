/** `heddle run`: one run of an agent. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Agent } from "@heddle/core"
import { Session } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Agents from "../agents/Agents.ts"
import { inMode } from "../agents/build.ts"
import { running } from "../running.ts"
import { told } from "../show/errors.ts"
import { keeping } from "../show/keeping.ts"
import { showing } from "../show/showing.ts"
import {
  allow,
  contextMode,
  database,
  inProject,
  json,
  model,
  noStream,
  session,
  sessionName,
  stream,
  streaming
} from "./common.ts"
import { promptOf } from "./prompt.ts"

const agent = Args.text({ name: "agent" }).pipe(Args.withDescription("The name of the agent."))
const prompt = Args.text({ name: "prompt" }).pipe(
  Args.withDescription("What it is asked. What stands in --file and comes from standard input is put behind it."),
  Args.optional
)
const file = Options.file("file").pipe(
  Options.withAlias("f"),
  Options.withDescription("A file with what it is asked, in UTF-8."),
  Options.optional
)

/** `heddle run` */
export const run = Command.make(
  "run",
  { agent, prompt, file, contextMode, session, model, json, stream, noStream, allow, db: database },
  (given) =>
    inProject(
      Effect.gen(function* () {
        const name = yield* sessionName(given.session)
        const stream = yield* streaming(given)
        const options = { model: Option.getOrUndefined(given.model), allow: given.allow, keep: name !== undefined }
        yield* running(options, ({ agents, build }) =>
          Effect.gen(function* () {
            const found = yield* Agents.find(agents, given.agent)
            const call = Option.isSome(given.contextMode) ? yield* inMode(found, given.contextMode.value) : {}
            const asked = yield* promptOf(given)
            const runnable = yield* build(found)
            const structured = found.head.output !== undefined
            const shown = keeping(yield* showing({ json: given.json, stream, structured }))
            yield* Agent.stream(runnable, asked, call).pipe(
              Stream.runForEach(shown.event),
              Effect.mapError((error) => told(error, found)),
              Effect.onInterrupt(() => shown.cancelled),
              Effect.ensuring(shown.end),
              Effect.zipRight(shown.kept),
              Session.within(name ?? "run")
            )
          }).pipe(Effect.scoped)
        )
      }),
      given
    )
).pipe(Command.withDescription("Runs an agent once, and writes its answer."))
