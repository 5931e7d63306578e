/** `heddle doctor`: what there is, what works, and what can be done where it does not. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lookAtAgents } from "../doctor/agents.ts"
import type { Check, State } from "../doctor/Check.ts"
import { lookAtData } from "../doctor/data.ts"
import { lookAtModels } from "../doctor/models.ts"
import { lookAtInstalled, lookAtProject, lookAtTerminal } from "../doctor/place.ts"
import { failed } from "../failure.ts"
import { survey } from "../locate.ts"
import { Output, type Sheet } from "../Output.ts"
import { oneLine } from "../problems.ts"
import { Project } from "../Project.ts"
import { clean, jsonText, paint } from "../text.ts"
import { database, json } from "./common.ts"

const looks = {
  ok: ["✓", "green"],
  absent: ["–", "dim"],
  warning: ["!", "yellow"],
  broken: ["✗", "red"]
} as const satisfies Record<State, readonly [string, string]>

const textOf = ({ found, remedy, state, what }: Check, sheet: Sheet): string => {
  const [mark, colour] = looks[state]
  const line = `${paint(sheet, colour, mark)} ${clean(what)}: ${oneLine(found)}\n`
  return remedy === undefined ? line : `${line}${paint(sheet, "dim", `  → ${clean(remedy)}`)}\n`
}

/** `heddle doctor` */
export const doctor = Command.make("doctor", { json, db: database }, (given) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    let broken = 0
    const tell = (checks: ReadonlyArray<Check>) =>
      Effect.forEach(
        checks,
        (one) => {
          if (one.state === "broken") broken++
          return out.write(given.json ? `${jsonText(one)}\n` : textOf(one, out))
        },
        { discard: true }
      )
    yield* tell(yield* lookAtInstalled)
    yield* tell([yield* lookAtTerminal])
    const { problems, project } = yield* survey({ database: Option.getOrUndefined(given.db) })
    for (const look of [lookAtProject(problems), lookAtData, lookAtModels, lookAtAgents]) {
      yield* Effect.flatMap(Effect.provideService(look, Project, project), tell)
    }
    if (broken > 0) {
      return yield* failed(broken === 1 ? "One thing is broken, see ✗." : `${broken} things are broken, see ✗.`)
    }
  })
).pipe(
  Command.withDescription(
    "Tells what is configured, reachable and writable, and what can be done where it is not. Nothing is changed, and no key is told."
  )
)
