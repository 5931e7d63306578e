/**
 * What the laws have in common: a subject, trials of it, and how to compare.
 */
import type { Handler } from "@heddle/core"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Circumstances, type Log, type Outcome, run } from "./outcome.ts"
import { probe } from "./probes.ts"
import { Violation } from "./violation.ts"
import type { Point, World } from "./world.ts"

/** A law. `number` is its number in the documentation. */
export interface Law {
  readonly number: number
  readonly name: string
  /** Rejects with a `Violation` if the law does not hold for a subject in a world. */
  readonly holds: (subject: Subject, world: World) => Promise<void>
}

/** What a law is tried on. */
export interface Subject {
  readonly handler: Handler.Any
  /** How handlers are put together: `Pipeline.make`, unless it is put to the test itself. */
  readonly compose: (...handlers: ReadonlyArray<Handler.Any>) => Handler.Any
  /** What the handler needs. */
  readonly layer: Layer.Layer<unknown, unknown>
}

export { Violation } from "./violation.ts"

/** Says that the law does not hold. */
export const violated = (message: string): never => {
  throw new Violation(message)
}

/** Makes a law of what is to hold for a trial in a world. */
export const law = (number: number, name: string, body: (trial: Trial, world: World) => Promise<void>): Law => ({
  number,
  name,
  holds: (subject, world) => body(new Trial(subject), world)
})

/** Runs the subject, and compares. */
export class Trial {
  readonly subject: Subject
  constructor(subject: Subject) {
    this.subject = subject
  }
  run(world: World, how?: Partial<Circumstances>, handler: Handler.Any = this.subject.handler): Promise<Outcome> {
    return run(handler, world, { layer: this.subject.layer, ...how })
  }
  /** Runs at the same time, in one application: what lives as long as that is built once for all of them. */
  async together(worlds: ReadonlyArray<readonly [World, Partial<Circumstances>?]>): Promise<ReadonlyArray<Outcome>> {
    const scope = await Effect.runPromise(Scope.make())
    try {
      const services = await Effect.runPromise(
        Layer.buildWithScope(this.subject.layer, scope) as Effect.Effect<Context.Context<unknown>, unknown>
      )
      const layer = Layer.succeedContext(services)
      return await Promise.all(worlds.map(([world, how]) => this.run(world, { ...how, layer })))
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
  around(before: ReadonlyArray<Handler.Any>, after: ReadonlyArray<Handler.Any>): Handler.Any {
    return this.subject.compose(...before, this.subject.handler, ...after)
  }
}

/** Refuses two outcomes that differ. */
export const same = (what: string, one: Outcome, other: Outcome) => {
  if (one.summary !== other.summary) violated(`${what}:\n${one.summary}\n-- and --\n${other.summary}`)
}

/** The same world, in which no model call fails. */
export const calm = (world: World): World => ({
  ...world,
  turns: world.turns.map((turn) => ({ ...turn, fails: false }))
})

/** Picks one, as the world says. */
export const choose = <A>(world: World, among: ReadonlyArray<A>, salt = 1): A =>
  among[Math.floor(world.pick / salt) % among.length]!

/** Puts probes around the subject. */
export const probes = (trial: Trial) => (_: Handler.Any, point: Point) =>
  trial.around([probe("a", point)], [probe("b", point)])

/** Refuses a log in which what was entered is not left once, in reverse. */
export const balanced = (log: Log) => {
  const stack: Array<string> = []
  const open = new Map<string, number>()
  for (const entry of log) {
    const name = entry.slice(0, -1)
    if (entry.endsWith(">") && entry.includes(".wrap")) open.set(name, (open.get(name) ?? 0) + 1)
    else if (entry.endsWith("<")) {
      const n = open.get(name) ?? 0
      if (n === 0) violated(`${name} was left without having been entered: ${log.join(" ")}`)
      open.set(name, n - 1)
    } else if (entry.endsWith(".acquire")) stack.push(entry.slice(0, -".acquire".length))
    else if (entry.endsWith(".release")) {
      const last = stack.pop()
      if (last !== entry.slice(0, -".release".length))
        violated(`released ${entry} where ${last} was due: ${log.join(" ")}`)
    }
  }
  for (const [name, n] of open) if (n !== 0) violated(`${name} was entered and not left: ${log.join(" ")}`)
  if (stack.length > 0) violated(`${stack.join(", ")} acquired and not released: ${log.join(" ")}`)
}
