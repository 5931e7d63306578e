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

/** Folders that say what programs do by themselves: git its hooks, and this command its configuration. */
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

/** Where to write, with all links resolved. Refuses what says which programs are run. */
const targetOf = (said: string): Effect.Effect<string, Refused, Needs> =>
  Effect.gen(function* () {
    const path = yield* Path
    const { root } = yield* Project
    const at = yield* resolved(yield* meant(said))
    if (at._tag === "Dangling") return yield* refused(`"${said}" is a link to what is not there.`)
    if (at._tag === "Nowhere") return yield* refused(`"${said}" is no path.`)
    const target = at.real
    if (!isWithin(path, root, target)) return yield* refused(`"${said}" is outside of the project.`)
    if (target === root) return yield* refused(`"${said}" is a folder.`)
    const names = path.relative(root, target).split(path.sep)
    const own = names.find((name) => kept.includes(name.toLowerCase()))
    if (own !== undefined) return yield* refused(`Nothing is written to ${own}.`)
    if (yield* isSetting(target)) {
      return yield* refused(
        `"${said}" is an agent or a configuration, which say what is run. Nothing is written there.`
      )
    }
    return target
  })

type Resolved =
  | { readonly _tag: "Resolved"; readonly real: string }
  /** A link to what is not there: it would be followed by whoever writes to it. */
  | { readonly _tag: "Dangling"; readonly to: string }
  | { readonly _tag: "Nowhere" }

/** A path with all links resolved: of what is not there, those of the folders above it. */
const resolved = (said: string): Effect.Effect<Resolved, never, FileSystem | Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const missing: Array<string> = []
    for (let at = said; ; at = path.dirname(at)) {
      const real = yield* Effect.option(fs.realPath(at))
      if (Option.isSome(real)) return { _tag: "Resolved", real: path.join(real.value, ...missing) }
      const link = yield* Effect.option(fs.readLink(at))
      if (Option.isSome(link)) {
        return { _tag: "Dangling", to: path.join(path.resolve(path.dirname(at), link.value), ...missing) }
      }
      if (at === path.dirname(at)) return { _tag: "Nowhere" }
      missing.unshift(path.basename(at))
    }
  })

/** Links to what is not there that are followed, one after the other: they may lead in a circle. */
const mostLinks = 8

/**
 * Whether a path is that of an agent or of a configuration, also by way of a link: an
 * agent's file names programs that are started, and a chat reads it again. Some file
 * systems make no difference between small letters and capitals.
 */
const isSetting = (target: string): Effect.Effect<boolean, never, Needs> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const { agentFolders, configFiles } = yield* Project
    const plain = target.toLowerCase()
    const holds = (at: string, links = mostLinks): Effect.Effect<boolean, never, FileSystem | Path> =>
      Effect.flatMap(resolved(at), (at) =>
        at._tag === "Dangling" && links > 0
          ? holds(at.to, links - 1)
          : Effect.succeed(at._tag === "Resolved" && isWithin(path, at.real.toLowerCase(), plain))
      )
    for (const { path: file } of configFiles) if (yield* holds(file)) return true
    for (const { path: folder } of agentFolders) {
      if (yield* holds(folder)) return true
      const entries = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
      for (const entry of entries) {
        const file = path.join(folder, entry)
        if ((yield* Effect.isSuccess(fs.readLink(file))) && (yield* holds(file))) return true
      }
    }
    return false
  })
