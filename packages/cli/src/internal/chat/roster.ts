/**
 * The agents of a chat, whose files may change while it goes on.
 */
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Agents from "../agents/Agents.ts"
import type { Runnable } from "../agents/build.ts"
import type { Running } from "../running.ts"
import type { Roster } from "./Chat.ts"

/** What was made of the files as they were at one time. */
interface Generation {
  readonly text: string
  readonly made: Map<string, Runnable>
  /** The servers that its agents have. */
  readonly scope: Scope.CloseableScope
  /** Who has something of it at the moment. */
  uses: number
}

/**
 * The agents, read anew each time that they are asked for. What was made of a file is
 * kept until any of them changes, since agents ask each other; its servers are left then,
 * once nothing of it runs.
 */
export const roster = (first: Running): Effect.Effect<Roster, never, Scope.Scope> =>
  Effect.gen(function* () {
    const whole = yield* Effect.scope
    const generation = (text: string): Effect.Effect<Generation> =>
      Effect.map(Scope.fork(whole, ExecutionStrategy.sequential), (scope) => ({
        text,
        made: new Map(),
        scope,
        uses: 0
      }))
    let latest = first
    let current = yield* generation(textOf(first.agents))

    /** Servers may take their time to end, and nobody is to wait for that. */
    const leave = (old: Generation) =>
      old.uses > 0 || old === current ? Effect.void : Effect.forkIn(Scope.close(old.scope, Exit.void), whole)

    const now = Effect.gen(function* () {
      const running = yield* first.again
      const text = textOf(running.agents)
      latest = running
      if (text !== current.text) {
        const old = current
        current = yield* generation(text)
        yield* leave(old)
      }
      return running
    })

    const used = Effect.acquireRelease(
      Effect.sync(() => {
        current.uses += 1
        return current
      }),
      (generation) =>
        Effect.suspend(() => {
          generation.uses -= 1
          return leave(generation)
        })
    )

    return {
      running: now,
      agents: Effect.map(now, ({ agents }) => agents),
      get: (name) =>
        Effect.gen(function* () {
          const { agents, build } = yield* now
          const { made, scope } = yield* used
          const file = yield* Agents.find(agents, name)
          const runnable = made.get(name) ?? (yield* build(file, scope))
          made.set(name, runnable)
          return { file, runnable }
        }),
      names: () => [...latest.agents.all.keys()]
    }
  })

const textOf = ({ all, broken }: Agents.Agents): string => JSON.stringify([[...all.values()], [...broken]])
