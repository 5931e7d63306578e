/** The names of tools that agent files can allow and deny. */
import { whole } from "@heddle/core/glob"

/** Those that come with the command. */
export const builtInTools = ["read_file", "list_files", "search_files", "write_file", "fetch_url", "ask_user"] as const

/** Whether a glob fits some text that begins with a prefix and goes on behind it. */
export const canBeginWith = (glob: string): ((prefix: string) => boolean) => {
  const places = glob.match(/\\[^]|[^]/gu) ?? []
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
