/** The names of tools that agent files can allow and deny. */
import { whole } from "@heddle/core/glob"

/** Those that come with the command. */
export const builtInTools = ["read_file", "list_files", "search_files", "write_file", "fetch_url", "ask_user"] as const

/** Whether a glob fits some text that begins with a prefix. */
export const canBeginWith = (glob: string, prefix: string): boolean =>
  Array.from({ length: glob.length }, (_, i) => i + 1).some((end) => {
    const isAll = end === glob.length
    return whole(glob.slice(0, end))(prefix) && (!isAll || glob.endsWith("*"))
  })
