/**
 * Files inside of the project. A path is looked at with all its links resolved, and
 * what was opened is compared with what was looked at, so that nothing put in its place
 * meanwhile is read.
 */
import { type File, FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Project } from "../Project.ts"
import { type Refused, refused, unreadable } from "./tool.ts"

/** What is inside of the project. */
export interface Inside {
  /** With all links resolved. */
  readonly real: string
  /** From the project on, with `/`. */
  readonly shown: string
}

/** What the tools of files need. */
export type Needs = Project | FileSystem | Path

const outside = (said: string) => refused(`"${said}" is outside of the project. Only what is inside can be used.`)

/** Whether a path is that of a folder, or of something in it. Both have no links. */
export const isWithin = (path: Path, folder: string, real: string): boolean => {
  const relative = path.relative(folder, real)
  return relative === "" || (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
}

/** The path that is meant, before links are resolved. */
export const meant = (said: string): Effect.Effect<string, Refused, Project | Path> =>
  Effect.gen(function* () {
    const { root } = yield* Project
    const path = yield* Path
    if (said === "" || said.includes("\0")) return yield* refused(`${JSON.stringify(said)} is no path.`)
    return path.resolve(root, said)
  })

/** How a path inside of the project is shown. */
export const shownOf = (real: string): Effect.Effect<string, never, Project | Path> =>
  Effect.gen(function* () {
    const path = yield* Path
    const relative = path.relative((yield* Project).root, real)
    return relative === "" ? "." : relative.split(path.sep).join("/")
  })

/** Resolves a path. Refuses one that is not there, and one that leads out of the project. */
export const inside = (said: string): Effect.Effect<Inside, Refused, Needs> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const { root } = yield* Project
    const at = yield* meant(said)
    const real = yield* Effect.mapError(fs.realPath(at), (error) =>
      // Whether there is something outside is not told.
      isWithin(path, root, at) ? unreadable(said)(error) : outside(said)
    )
    if (!isWithin(path, root, real)) return yield* outside(said)
    return { real, shown: yield* shownOf(real) }
  })

/** Whether two looks were at the same file. */
const isSame = (a: File.Info, b: File.Info): boolean =>
  a.dev === b.dev && Option.isSome(a.ino) && Option.isSome(b.ino) && a.ino.value === b.ino.value

/** Where the system tells what an open file is. */
const openFiles = "/proc/self/fd"

/** Makes sure that a file which was opened is inside of the project: between a look and the opening a link may have taken the place of a folder. */
export const checkOpened = (file: File, { real, shown }: Inside): Effect.Effect<void, Refused, Needs> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const { root } = yield* Project
    const changed = refused(`"${shown}" has just changed. Try again.`)
    const orChanged = Effect.mapError(() => changed)
    if (yield* Effect.orElseSucceed(fs.exists(openFiles), () => false)) {
      const opened = yield* orChanged(fs.realPath(`${openFiles}/${file.fd}`))
      return isWithin(path, root, opened) ? undefined : yield* changed
    }
    // Elsewhere one can only look again, and it takes two swaps at the right moments to be deceived.
    const opened = yield* orChanged(file.stat)
    const now = yield* inside(real)
    if (now.real !== real || !isSame(opened, yield* orChanged(fs.stat(now.real)))) return yield* changed
  })

/** The bytes of a file inside of the project, up to a number. Refuses what is no file, such as a pipe, and what is larger. */
export const bytesOf = ({ real, shown }: Inside, most: number): Effect.Effect<Uint8Array, Refused, Needs> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const failing = Effect.mapError(unreadable(shown))
    const before = yield* failing(fs.stat(real))
    if (before.type === "Directory") return yield* refused(`"${shown}" is a folder. Use list_files for it.`)
    // Opening a pipe would wait for somebody who writes to it.
    if (before.type !== "File") return yield* refused(`"${shown}" is no file.`)
    if (before.size > most)
      return yield* refused(`"${shown}" is too large: ${before.size} bytes, of ${most} at the most.`)
    const file = yield* failing(fs.open(real, { flag: "r" }))
    yield* checkOpened(file, { real, shown })
    const parts: Array<Uint8Array> = []
    let size = 0
    while (size <= most) {
      const part = yield* failing(file.readAlloc(Math.min(most + 1 - size, 1_048_576)))
      if (Option.isNone(part)) break
      parts.push(part.value)
      size += part.value.length
    }
    if (size > most) return yield* refused(`"${shown}" is too large: more than ${most} bytes.`)
    return Buffer.concat(parts)
  }).pipe(Effect.scoped)
