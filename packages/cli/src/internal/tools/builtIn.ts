/** The tools that agent files can allow. */
import type { Tool } from "@heddle/core"

/** The tools that agent files can allow. */
export const builtIn: ReadonlyArray<Tool.Any> = []
