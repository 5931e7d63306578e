/** The files of a folder inside of the project. Hidden ones and `node_modules` are left out, and links are not followed. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { whole } from "@heddle/core/glob"
import * as Effect from "effect/Effect"
import { type Inside, inside, type Needs } from "./inside.ts"
import { type Refused, refused, unreadable } from "./tool.ts"

/** What was found. */
export interface Found {
  /** In the order of their paths. */
  readonly files: ReadonlyArray<Inside>
  /** Whether there may be more: so many were looked at that the rest was left. */
  readonly isCut: boolean
}

/** Files and folders that are looked at. */
const most = 20_000

const isLeftOut = (name: string): boolean => name.startsWith(".") || name === "node_modules"

/** Braces of a glob, taken apart: `*.{ts,js}` as `*.ts` and `*.js`. */
const alternatives = (glob: string, left = 3): ReadonlyArray<string> => {
  const found = /^([^{]*)\{([^{}]*)\}(.*)$/s.exec(glob)
  if (found === null || left === 0) return [glob]
  return found[2]!.split(",").flatMap((one) => alternatives(`${found[1]}${one}${found[3]}`, left - 1))
}

/** Says whether a path from the project on matches a glob: without a `/` its name alone has to. */
const matcher = (glob: string): ((shown: string) => boolean) => {
  const all = alternatives(glob.replace(/^\.?\//, "")).flatMap((one) =>
    // `**/` may stand for no folder at all.
    one.includes("**/") ? [one, one.replaceAll("**/", "")] : [one]
  )
  const fits = all.map((one) => ({ byName: !one.includes("/"), fits: whole(one) }))
  return (shown) => fits.some(({ byName, fits }) => fits(byName ? shown.slice(shown.lastIndexOf("/") + 1) : shown))
}

/** Finds the files of a folder, or of a file that file, that match a glob. */
export const filesIn = (said: string, glob: string | undefined): Effect.Effect<Found, Refused, Needs> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const start = yield* inside(said)
    const matches = glob === undefined ? () => true : matcher(glob)
    const { type } = yield* Effect.mapError(fs.stat(start.real), unreadable(start.shown))
    if (type === "File") return { files: [start], isCut: false }
    if (type !== "Directory") return yield* refused(`"${start.shown}" is no folder.`)
    yield* Effect.mapError(fs.readDirectory(start.real), unreadable(start.shown))

    const files: Array<Inside> = []
    const folders = [start]
    let looked = 0
    /** One name of a folder. What cannot be looked at is left out, and what is a link. */
    const look = (folder: Inside, name: string): Effect.Effect<void> => {
      const real = path.join(folder.real, name)
      const shown = folder.shown === "." ? name : `${folder.shown}/${name}`
      return Effect.gen(function* () {
        if (yield* Effect.isSuccess(fs.readLink(real))) return
        const info = yield* fs.stat(real)
        if (info.type === "Directory") folders.push({ real, shown })
        else if (info.type === "File" && matches(shown)) files.push({ real, shown })
      }).pipe(Effect.ignore)
    }
    for (let folder = folders.shift(); folder !== undefined && looked < most; folder = folders.shift()) {
      const here = folder
      const names = yield* Effect.orElseSucceed(fs.readDirectory(here.real), () => [])
      const kept = names.filter((name) => !isLeftOut(name)).slice(0, most - looked)
      looked += kept.length
      yield* Effect.forEach(kept, (name) => look(here, name), { concurrency: 16, discard: true })
    }
    return { files: files.toSorted((a, b) => (a.shown < b.shown ? -1 : 1)), isCut: looked >= most }
  })
