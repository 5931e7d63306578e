/** Writes a file of the project. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { Project } from "../Project.ts"
import { checkOpened, isWithin, meant, type Needs, shownOf } from "./inside.ts"
import { type Refused, refused, textTool, unreadable } from "./tool.ts"

/** Folders that say what programs do by themselves: git its hooks, and this command what it may do unasked. */
const kept = [".git", ".heddle"]

export const writeFile = textTool({
  name: "write_file",
  description:
    "Writes a text file of the project, in place of what is in it. Folders are made where they are not there.",
  parameters: Schema.Struct({
    path: Schema.String.annotations({ description: "The path of the file, from the project's folder on." }),
    content: Schema.String.annotations({ description: "All that is to be in the file." })
  }),
  annotations: { destructive: true, idempotent: true },
  execute: ({ content, path: said }) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem
      const path = yield* Path
      const target = yield* targetOf(said)
      const shown = yield* shownOf(target)
      const failing = Effect.mapError(unreadable(shown))
      const before = yield* Effect.option(fs.stat(target))
      if (Option.isSome(before) && before.value.type !== "File")
        return yield* refused(`"${shown}" is there, and no file.`)
      if (Option.isSome(before)) yield* failing(fs.access(target, { writable: true }))
      const folder = path.dirname(target)
      yield* failing(fs.makeDirectory(folder, { recursive: true }))
      const bytes = new TextEncoder().encode(content)
      // A file of its own first: what is there stays whole if this fails, and a link that takes its place meanwhile
      // is replaced, not followed.
      const own = path.join(folder, `.heddle-${yield* Random.nextIntBetween(1e9, 1e10)}`)
      let isMade = false
      const writing = Effect.gen(function* () {
        const mode = Option.isSome(before) ? { mode: before.value.mode & 0o777 } : {}
        const file = yield* failing(fs.open(own, { flag: "wx", ...mode }))
        isMade = true
        yield* checkOpened(file, { real: own, shown })
        yield* failing(file.writeAll(bytes))
      })
      yield* Effect.scoped(writing).pipe(
        Effect.zipRight(failing(fs.rename(own, target))),
        Effect.onError(() => (isMade ? Effect.ignore(fs.remove(own)) : Effect.void))
      )
      return `Wrote ${shown} (${bytes.length} bytes).`
    })
})

/** Where to write, with all links resolved: of what is not there, those of the folders above it. */
const targetOf = (said: string): Effect.Effect<string, Refused, Needs> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const { root } = yield* Project
    const missing: Array<string> = []
    let at = yield* meant(said)
    while (true) {
      const real = yield* Effect.option(fs.realPath(at))
      if (Option.isSome(real)) {
        const target = path.join(real.value, ...missing)
        if (!isWithin(path, root, target)) return yield* refused(`"${said}" is outside of the project.`)
        if (target === root) return yield* refused(`"${said}" is a folder.`)
        const names = path.relative(root, target).split(path.sep)
        const own = names.find((name) => kept.includes(name.toLowerCase()))
        if (own !== undefined) return yield* refused(`Nothing is written to ${own}.`)
        return target
      }
      // A link to what is not there would be followed by whoever writes to it.
      if (yield* Effect.isSuccess(fs.readLink(at))) return yield* refused(`"${said}" is a link to what is not there.`)
      if (at === path.dirname(at)) return yield* refused(`"${said}" is no path.`)
      missing.unshift(path.basename(at))
      at = path.dirname(at)
    }
  })
