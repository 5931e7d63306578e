/**
 * How branches run beside each other.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { TooFewSucceeded } from "../WorkflowErrors.ts"
import type { Runner, Running } from "./node.ts"
import type { Place } from "./run.ts"

/**
 * What happens when branches fail. `"fail-fast"`: the others are interrupted, and
 * the node fails. `"settle"`: each branch's exit is kept. `atLeast`: the node fails
 * with `TooFewSucceeded` as soon as not so many can succeed any more; else it has
 * the values of those that did.
 */
export type Settlement = "fail-fast" | "settle" | { readonly atLeast: number }

/** How many run at a time. */
export type Concurrency = number | "unbounded"

interface Branch {
  readonly name: string | number
  readonly run: () => Running
}

const together = (
  name: string,
  branches: ReadonlyArray<Branch>,
  settlement: Settlement,
  concurrency: Concurrency,
  at: Place
): Effect.Effect<ReadonlyArray<unknown>, unknown, unknown> => {
  const each = (one: (branch: Branch) => Running) => Effect.forEach(branches, one, { concurrency })
  if (settlement === "fail-fast") return each((branch) => branch.run())
  if (settlement === "settle") {
    return each((branch) =>
      Effect.flatMap(Effect.exit(Effect.suspend(branch.run)), (exit) =>
        // What stops the whole run is not the branch's own.
        at.run.stopped === undefined ? Effect.succeed(exit) : Effect.die(at.run.stopped)
      )
    )
  }
  const { atLeast: needed } = settlement
  const failures = new Map<string | number, unknown>()
  const most = () => branches.length - failures.size
  const tooFew = () =>
    new TooFewSucceeded({
      node: name,
      needed,
      branches: branches.length,
      // In the order of the branches, whichever failed first.
      failures: branches.flatMap((branch) =>
        failures.has(branch.name) ? [{ branch: String(branch.name), error: failures.get(branch.name) }] : []
      )
    })
  const all = each((branch) =>
    Effect.matchEffect(Effect.suspend(branch.run), {
      onSuccess: (value) => Effect.succeed(Option.some(value)),
      onFailure: (error) => {
        failures.set(branch.name, error)
        return most() < needed ? tooFew() : Effect.succeed(Option.none())
      }
    })
  )
  return branches.length < needed ? tooFew() : all
}

export const parallel = (
  name: string,
  branches: ReadonlyArray<readonly [name: string, runner: Runner]>,
  settlement: Settlement,
  concurrency: Concurrency
): Runner => {
  const isPartial = typeof settlement === "object"
  return (input, at) => {
    const started = branches.map(([name, runner]): Branch => {
      const place = at.apart()
      return { name, run: () => runner(input, place) }
    })
    return Effect.map(together(name, started, settlement, concurrency, at), (results) => {
      const entries = branches.flatMap(([name], i) => {
        if (!isPartial) return [[name, results[i]] as const]
        // What `together` gives where some may fail.
        const result = results[i] as Option.Option<unknown>
        return Option.isSome(result) ? [[name, result.value] as const] : []
      })
      return Object.fromEntries(entries)
    })
  }
}

export const each =
  (name: string, runner: Runner, settlement: Settlement, concurrency: Concurrency): Runner =>
  (input, at) => {
    // The types see to it, but not where a workflow is made of data.
    if (!Array.isArray(input)) {
      return Effect.die(new TypeError(`Each "${name}" runs over an array, not ${typeof input}.`))
    }
    // An array may have holes, which `map` would leave.
    const started = Array.from(input, (element: unknown, i): Branch => {
      const place = at.apart().within(i)
      return { name: i, run: () => runner(element, place) }
    })
    return together(name, started, settlement, concurrency, at)
  }
