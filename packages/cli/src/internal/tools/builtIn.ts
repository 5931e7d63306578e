/** The tools that agent files can allow. */
import type { Tool } from "@heddle/core"
import type { Asking } from "../Asking.ts"
import { askUser } from "./askUser.ts"
import { fetchUrl } from "./fetchUrl.ts"
import type { Needs } from "./inside.ts"
import { listFiles } from "./listFiles.ts"
import { readFile } from "./readFile.ts"
import { searchFiles } from "./searchFiles.ts"
import { writeFile } from "./writeFile.ts"

/** The tools that agent files can allow. */
export const builtIn: ReadonlyArray<Tool.Tool<never, Needs | Asking>> = [
  readFile,
  listFiles,
  searchFiles,
  writeFile,
  fetchUrl,
  askUser
]
