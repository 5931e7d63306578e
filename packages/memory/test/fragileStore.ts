import { KeyValueStore } from "@effect/platform"
import { SystemError } from "@effect/platform/Error"
import { Effect, Option } from "effect"

/** When a process is killed: in the middle of a change of a value, which is the one after so many. */
export interface Kill {
  readonly after: number
  /** What is written of the value. */
  readonly cut: (text: string) => string
}

/** A change of a value that was made or begun. */
export interface Change {
  readonly key: string
  /** Missing if it was deleted. */
  readonly text?: string
}

export const error = new SystemError({
  reason: "Unknown",
  module: "KeyValueStore",
  method: "set",
  pathOrDescriptor: "x"
})

/** A key-value store in a map, that does nothing any more from the moment at which the process is killed. */
export const fragile = (
  values: Map<string, string>,
  kill?: Kill,
  changes: Array<Change> = []
): KeyValueStore.KeyValueStore => {
  const alive = <A>(effect: () => A) =>
    Effect.suspend(() => (kill !== undefined && changes.length > kill.after ? Effect.fail(error) : Effect.sync(effect)))
  const change = (made: Change, make: () => void) =>
    Effect.zipRight(
      alive(() => {
        changes.push(made)
        if (kill === undefined || changes.length <= kill.after) make()
        else if (made.text !== undefined) values.set(made.key, kill.cut(made.text))
      }),
      alive(() => undefined)
    )
  return KeyValueStore.makeStringOnly({
    get: (key) => alive(() => Option.fromNullable(values.get(key))),
    set: (key, text) => change({ key, text }, () => values.set(key, text)),
    remove: (key) => change({ key }, () => values.delete(key)),
    clear: Effect.die("nobody clears"),
    size: Effect.die("nobody counts")
  })
}
