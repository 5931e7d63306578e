/**
 * Globs over paths with `/`.
 */

/** Says whether a path matches one of the globs: `*` and `?` stay within a name, `**` does not; without a `/`, the name alone has to match. */
export const anyOf = (globs: ReadonlyArray<string>): ((path: string) => boolean) => {
  const patterns = globs.map((glob) => ({
    whole: glob.includes("/"),
    pattern: patternOf(glob.replace(/^\/|\/$/g, ""))
  }))
  return (path) => {
    const name = path.slice(path.lastIndexOf("/") + 1)
    return patterns.some(({ pattern, whole }) => pattern.test(whole ? path : name))
  }
}

const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob.replace(/\*\*\/|\/\*\*$|\*+|\?|[\\^$.|+()[\]{}]/g, (found) => {
      if (found === "**/") return "(?:.*/)?"
      // What is in a folder, and the folder.
      if (found === "/**") return "(?:/.*)?"
      if (found === "?") return "[^/]"
      return found[0] === "*" ? (found.length > 1 ? ".*" : "[^/]*") : `\\${found}`
    })}$`,
    "su"
  )
