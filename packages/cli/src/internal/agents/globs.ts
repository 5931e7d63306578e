/** Globs over the names of tools. What may run without a question rests on them. */
import { whole } from "@heddle/core/glob"

/** Whether one of the globs fits, without regard to case: a name that is to be denied is not let through for a capital. */
export const anyOf = (globs: ReadonlyArray<string>): ((name: string) => boolean) => {
  const fits = globs.map((glob) => whole(glob))
  return (name) => fits.some((fit) => fit(name))
}

/** What of all names is chosen: what is allowed, which is all of them unless said, without what is denied. */
export const choosing = ({
  allow,
  deny = []
}: {
  readonly allow?: ReadonlyArray<string> | undefined
  readonly deny?: ReadonlyArray<string> | undefined
} = {}): ((name: string) => boolean) => {
  const isAllowed = allow === undefined ? () => true : anyOf(allow)
  const isDenied = anyOf(deny)
  return (name) => isAllowed(name) && !isDenied(name)
}

/** Whether a glob fits some text that begins with a prefix and goes on behind it. */
export const canBeginWith = (glob: string): ((prefix: string) => boolean) => {
  const places: ReadonlyArray<string> = glob.match(/\\[^]|[^]/gu) ?? []
  const star = places.indexOf("*")
  const beginning = star < 0 ? places : places.slice(0, star)
  return (prefix) => {
    const characters = Array.from(prefix)
    // Behind a star, anything can be made to fit.
    if (star < 0 && beginning.length <= characters.length) return false
    const both = Math.min(beginning.length, characters.length)
    return whole(beginning.slice(0, both).join(""))(characters.slice(0, both).join(""))
  }
}
