import { toPlain, toText } from "../RunRecord.ts"

/** What went wrong, in words. Never throws, whatever an error is made of. */
export const describe = (error: unknown): string => {
  try {
    if (error instanceof Error && typeof error.message === "string" && error.message !== "") return error.message
  } catch {
    // A message that cannot be read.
  }
  return toText(toPlain(error))
}
