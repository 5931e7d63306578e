/**
 * Two handlers without state of their own: what the agent is told, and where it
 * may read.
 */
import { Call, Handler, Message } from "@heddle/core"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import type { Library } from "./Library.ts"

/** Tells the agent how to answer. */
export const guide = Handler.instructions(
  "Answer in a few sentences. Name the document that each of them is from.",
  "guide"
)

const within = (folder: string, file: string) => {
  const way = path.relative(folder, file)
  return way === "" || (!way.startsWith("..") && !path.isAbsolute(way))
}

const realpath = (file: string) => Effect.option(Effect.tryPromise(() => fs.realpath(file)))

/**
 * Where a path of a tool call really leads, links resolved: a path from the
 * root, or `undefined` when that is outside of the library.
 */
export const resolve = (library: Library, file: string): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    const full = path.resolve(library.root, file)
    if (!library.include.some((entry) => within(path.join(library.root, entry), full))) return undefined
    const real = yield* realpath(full)
    // What does not exist leads nowhere: the tool will say so.
    if (real._tag === "None") return path.relative(library.root, full)
    for (const entry of library.include) {
      const allowed = yield* realpath(path.join(library.root, entry))
      if (allowed._tag === "Some" && within(allowed.value, real.value)) {
        return path.join(entry, path.relative(allowed.value, real.value))
      }
    }
    return undefined
  })

/** Denies calls with a path outside of the library. The others get the path that it really is. */
export const confine = (library: Library) =>
  Handler.make("confine", {
    wrapToolCall: (request, next) => {
      const args = request.arguments
      if (typeof args !== "object" || args === null || !("path" in args) || typeof args.path !== "string")
        return next(request)
      return Call.unwrap(
        Effect.map(resolve(library, args.path), (path) =>
          path === undefined
            ? Call.succeed(Message.denied("only the documents may be read"))
            : next({ ...request, arguments: { ...args, path } })
        )
      )
    }
  })
