/**
 * SHA-256, as hexadecimal digits.
 */
import { sha256 as digest } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Effect from "effect/Effect"

/** The hash of a short text, at once. */
export const sha256 = (text: string): string => bytesToHex(digest(utf8ToBytes(text)))

/** The hash of many bytes, beside the thread. */
export const hexOf = (bytes: Uint8Array): Effect.Effect<string> =>
  Effect.map(
    // The types of Node 20 know of no bytes that are shared; those of files never are.
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)),
    (hash) => bytesToHex(new Uint8Array(hash))
  )
