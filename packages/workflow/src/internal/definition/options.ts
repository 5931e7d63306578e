/**
 * What the step of an agent says of its run, read by who knows it.
 */
import { Agent } from "@heddle/core"
import { unknownName } from "@heddle/core/names"
import type { Reader } from "@heddle/core/settings"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Fields } from "./value.ts"

/** Options, and all that is wrong with what they are made of. */
export interface Read {
  readonly options: Agent.CallOptions
  readonly problems: ReadonlyArray<string>
}

/** Makes options of data. A key that no reader has is a mistake. */
export const optionsOf = (data: Fields, readers: ReadonlyArray<Reader<Agent.CallOptions>>): Effect.Effect<Read> =>
  Effect.map(
    Effect.forEach(readers, (reader) => readBy(reader, data)),
    (parts) => {
      const known = readers.flatMap(({ keys }) => keys)
      const unknown = Object.keys(data).filter((key) => !known.includes(key))
      return {
        options: Agent.options(...parts.map(({ options }) => options)),
        problems: [
          ...parts.flatMap(({ problems }) => problems),
          ...unknown.map((key) => unknownName("key", key, known))
        ]
      }
    }
  )

const readBy = ({ keys, read }: Reader<Agent.CallOptions>, data: Fields): Effect.Effect<Read> => {
  const own = Object.fromEntries(keys.filter((key) => Object.hasOwn(data, key)).map((key) => [key, data[key]]))
  return Object.keys(own).length === 0
    ? Effect.succeed({ options: {}, problems: [] })
    : Effect.suspend(() => read(own)).pipe(
        Effect.match({
          onSuccess: (options): Read => ({ options, problems: [] }),
          onFailure: ({ problems }): Read => ({ options: {}, problems })
        }),
        Effect.catchAllDefect((defect) =>
          Effect.succeed<Read>({
            options: {},
            problems: [`${keys.join(", ")}: the reader threw: ${Cause.pretty(Cause.fail(defect))}`]
          })
        )
      )
}
