/** Reads texts that people write: small files, in UTF-8. */
import { FileSystem } from "@effect/platform/FileSystem"
import type { PlatformError } from "@effect/platform/Error"
import * as Effect from "effect/Effect"
import { type Place, places } from "./yaml/places.ts"

/** What a file holds, or why it cannot be read and where that shows. */
export type Text =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Refused"; readonly message: string; readonly place: Place }
  | { readonly _tag: "Folder" }

/** The largest file that is read, in bytes. */
export const largest = 1_000_000

const start: Place = { line: 1, column: 1 }

/** Reads a file. What is neither a file nor a folder is refused: to read it may never end. */
export const readText = (path: string): Effect.Effect<Text, never, FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const { size, type } = yield* fs.stat(path)
    if (type === "Directory") return { _tag: "Folder" } as const
    if (type !== "File") return refused("is no file that can be read")
    if (size > largest) return refused(`too large: more than ${largest} bytes`)
    return decoded(yield* fs.readFile(path))
  }).pipe(Effect.catchAll((error) => Effect.succeed(refused(`cannot be read: ${why(error)}`))))

/** The text of bytes. A mark of the byte order stays. */
const decoded = (bytes: Uint8Array): Text => {
  const text = utf8(bytes)
  if (text !== undefined) return { _tag: "Text", text }
  const before = validStart(bytes)
  return refused("invalid UTF-8 here: save the file as UTF-8", places(before)(before.length))
}

/** The text of bytes, or of a beginning that may end within a character; nothing if they are no UTF-8. A mark of the byte order stays. */
export const utf8 = (bytes: Uint8Array, isBeginning = false): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isBeginning })
  } catch {
    return undefined
  }
}

const refused = (message: string, place: Place = start): Text => ({ _tag: "Refused", message, place })

/** The longest beginning that is UTF-8. */
const validStart = (bytes: Uint8Array): string => {
  let [low, high] = [0, bytes.length]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (utf8(bytes.subarray(0, middle), true) === undefined) high = middle - 1
    else low = middle
  }
  return utf8(bytes.subarray(0, low), true) ?? ""
}

/** Why the system does not do what it was asked, in few words. */
export const why = (error: PlatformError): string => {
  if (error._tag === "BadArgument") return error.message
  switch (error.reason) {
    case "NotFound":
      return "it is not there"
    case "PermissionDenied":
      return "permission denied"
    default:
      return error.description ?? error.message
  }
}
