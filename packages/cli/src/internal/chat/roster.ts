/**
 * The agents of a chat, whose files may change while it goes on.
 */
import * as Effect from "effect/Effect"
import * as Agents from "../agents/Agents.ts"
import type { Runnable } from "../agents/build.ts"
import type { Running } from "../running.ts"
import type { Roster } from "./Chat.ts"

/** The agents, read anew each time that they are asked for. What was made of a file is kept until any of them changes, since agents ask each other. */
export const roster = (first: Running): Roster => {
  let latest = first
  let text = textOf(first.agents)
  let made = new Map<string, Runnable>()
  const now = Effect.map(first.again, (running) => {
    const textNow = textOf(running.agents)
    if (textNow !== text) made = new Map()
    text = textNow
    latest = running
    return running
  })
  return {
    running: now,
    agents: Effect.map(now, ({ agents }) => agents),
    get: (name) =>
      Effect.gen(function* () {
        const { agents, build } = yield* now
        const file = yield* Agents.find(agents, name)
        const runnable = made.get(name) ?? (yield* build(file))
        made.set(name, runnable)
        return { file, runnable }
      }),
    names: () => [...latest.agents.all.keys()]
  }
}

const textOf = ({ all, broken }: Agents.Agents): string => JSON.stringify([[...all.values()], [...broken]])
