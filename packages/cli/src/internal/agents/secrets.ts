/** Finds what looks like a secret, so that it is not kept in a file that others read, and leaves out what may be one. */
import type { FrontMatter } from "./frontMatter.ts"

/** Keys of providers begin in ways of their own. */
const shapes =
  /^(?:sk-|sk_live_|rk_live_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza|ya29\.|hf_|npm_|eyJ[A-Za-z0-9_-]+\.eyJ)/
const names = /key|token|secret|password|passwd|credential|authorization|cookie/i

/** Whether a value of a variable or of a header looks like a secret. */
export const looksSecret = (name: string, value: string): boolean => {
  const bare = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "")
  if (shapes.test(bare)) return true
  if (bare.length < 8 || /\s/.test(bare) || /^[./~]|^https?:\/\/|^\$|^<.*>$/.test(bare)) return false
  return (
    names.test(name) ||
    (bare.length >= 32 && /^[A-Za-z0-9+/_=-]+$/.test(bare) && /\d/.test(bare) && /[A-Za-z]/.test(bare))
  )
}

/** Whether an argument of a program, or an address, has a secret in it. */
export const hasSecret = (text: string): boolean =>
  text.split(/[\s=&?]+/).some((part) => shapes.test(part)) ||
  [...text.matchAll(/(?<![A-Za-z_-])([A-Za-z_-]+)=([^&\s]+)/g)].some(([, name = "", value = ""]) =>
    looksSecret(name, value)
  )

/** How a server is reached, for a person. Arguments may be secret, and what stands behind a `?`. */
export const placeOf = (said: NonNullable<FrontMatter["mcp"]>[string]): string =>
  "url" in said ? said.url.replace(/[?#][^]*$/, "") : said.command
