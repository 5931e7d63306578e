/** The handlers that an agent file names, with their options. */
import type { Handler } from "@heddle/core"
import { unknownName } from "@heddle/core/names"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe } from "../failure.ts"
import { type Flaw, flaws } from "../yaml/flaws.ts"
import type { Path } from "../yaml/readYaml.ts"
import type { Registry } from "./definition.ts"
import type { FrontMatter } from "./frontMatter.ts"

type Use = NonNullable<FrontMatter["handlers"]>[number]

/** A handler of the registry with its options, or all that is wrong with them. `i`: its place among the handlers. */
export const namedHandler = (
  use: Use,
  i: number,
  registry: Registry
): Either.Either<Handler.Any, ReadonlyArray<Flaw>> => {
  const at: Path = ["handlers", i]
  const wrong = (path: Path, text: string) =>
    Either.left([{ path, part: "value", message: `handlers[${i}]: ${text}` } as const])
  const isName = typeof use === "string"
  const { name, options = {} } = isName ? { name: use } : use
  // Not what every object has.
  const definition = Object.hasOwn(registry, name) ? registry[name] : undefined
  if (definition === undefined) {
    return wrong(isName ? at : [...at, "name"], unknownName("handler", name, Object.keys(registry)))
  }
  // `define` has taken the schema and the function together: what the one decodes the other takes.
  const schema = definition.options as unknown as Schema.Schema<unknown>
  const place = [...at, "options"]
  const found = flaws(schema)(options, place)
  if (found.length > 0) return Either.left(found)
  try {
    return Either.right(definition.make(Schema.decodeUnknownSync(schema)(options) as never))
  } catch (thrown) {
    return wrong(place, describe(thrown))
  }
}
