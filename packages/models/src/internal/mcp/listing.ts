/**
 * Reading the list of tools of a server, page by page.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Limits } from "../../mcp.ts"
import type { ToolDefinition } from "../../ToolProvider.ts"
import { definition, Page } from "./definitions.ts"
import type { Failure, Teller } from "./failure.ts"

/** Pages of a list: a server may give one without end, with nothing in it. */
const mostPages = 1000

/** Tools that are left out and that a log tells of. */
const mostTold = 10

/** How a list is read. */
interface Reading {
  readonly server: string
  /** Asks for a page. */
  readonly ask: (params: { readonly cursor?: string }) => Effect.Effect<unknown, Failure>
  readonly limits: Limits
  readonly tell: Teller
}

/** Reads the list. Tools that make no sense are left out, and logged where that is not known yet. */
export const reader = ({
  ask,
  limits,
  server,
  tell
}: Reading): Effect.Effect<ReadonlyArray<ToolDefinition>, Failure> => {
  let logged = ""
  const warn = (refused: ReadonlyArray<string>) => {
    const more = refused.length > mostTold ? `; ${refused.length - mostTold} more` : ""
    const leftOut = refused.slice(0, mostTold).join("; ") + more
    if (leftOut === logged) return Effect.void
    logged = leftOut
    return leftOut === ""
      ? Effect.void
      : Effect.logWarning(`Tools of the MCP server "${server}" are left out: ${leftOut}.`)
  }
  return Effect.gen(function* () {
    const tools: Array<ToolDefinition> = []
    const refused: Array<string> = []
    let cursor: string | undefined
    for (let pages = 0; pages === 0 || cursor !== undefined; pages++) {
      if (pages === mostPages) {
        return yield* tell.failure("InvalidResponse", `lists its tools on more than ${mostPages} pages.`)
      }
      const page = decodePage(yield* ask(cursor === undefined ? {} : { cursor }))
      if (Either.isLeft(page)) return yield* tell.failure("InvalidResponse", "gave a list of tools that is none.")
      if (tools.length + refused.length + page.right.tools.length > limits.tools) {
        return yield* tell.failure(
          "InvalidResponse",
          `lists more than ${limits.tools} tools. If that is meant to be, raise \`limits.tools\`.`
        )
      }
      for (const tool of page.right.tools) {
        const defined = definition(tool, limits, tell.clean)
        if (typeof defined === "string") refused.push(defined)
        else tools.push(defined)
      }
      cursor = page.right.nextCursor
    }
    yield* warn(refused)
    return tools
  })
}

const decodePage = Schema.decodeUnknownEither(Page)
