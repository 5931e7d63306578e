/**
 * Text as words: cut, folded and stemmed, so that "Handlers" finds "handler"
 * and `wrapToolCall` finds "tool call". Stems and words without a meaning of their
 * own are those of English.
 *
 * @example
 * ```ts
 * import { terms } from "@heddle/core/words"
 *
 * console.log(terms("The handlers that wrapToolCall has")) // [ 'handler', 'wrap', 'tool', 'call' ]
 * ```
 */

/** A word: camel case is cut, and so are letters from digits. */
const word = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lt}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu

/** Scripts that write no spaces: their words are taken as pairs of characters. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** What is longer is no word. */
const longestWord = 100

const stopWords = new Set(
  (
    "a an the this that these those it its i me my you your we our they their he she his her them us " +
    "is are was were be been being am do does did done have has had having can could will would shall should may might must " +
    "what which who whom whose when where why how if then than so as at by for from in into of on onto to with without about over under up down out " +
    "and or but not no nor also any some all each every there here please tell know let say says said get gets make makes t s re ve ll d m"
  ).split(" ")
)

/** Lower case, in one form of each character. */
export const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/** The words of a text as they are written, in lower case. */
export const words = (text: string): Array<string> => {
  const out: Array<string> = []
  for (const [found] of text.normalize("NFKC").matchAll(word)) {
    const lower = found.toLowerCase()
    if (lower.length < 3 || !unspaced.test(lower)) {
      if (lower.length <= longestWord) out.push(lower)
    } else for (let i = 0; i + 2 <= lower.length; i++) out.push(lower.slice(i, i + 2))
  }
  return out
}

/** Whether a word carries no meaning of its own. */
export const isStopWord = (word: string): boolean => stopWords.has(word)

const undouble = (stem: string) => (/([bdfgklmnprt])\1$/.test(stem) ? stem.slice(0, -1) : stem)

/** The stem of an English word; any other word as it is. */
export const stem = (word: string): string => {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  let out = word
  if (out.endsWith("sses")) out = out.slice(0, -2)
  else if (out.endsWith("ies") && out.length > 4) out = `${out.slice(0, -3)}y`
  else if (/[^siu]s$/.test(out)) out = out.slice(0, -1)
  const cut = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(out)
  if (cut !== null && cut[1]!.length > 2) out = undouble(cut[1]!)
  else if (out.endsWith("ly") && out.length > 5) out = out.slice(0, -2)
  return out.length > 3 && out.endsWith("e") ? out.slice(0, -1) : out
}

/** The stems of a text that carry meaning, in their order; all of them when none does. */
export const stems = (text: string): ReadonlyArray<string> => {
  const all = words(text)
  const kept = all.filter((word) => !isStopWord(word))
  return (kept.length > 0 ? kept : all).map(stem)
}

/** The same, each once. */
export const terms = (text: string): ReadonlyArray<string> => Array.from(new Set(stems(text)))

/** How many words a text has, words being what stands between white space. */
export const count = (text: string): number => {
  let n = 0
  let inside = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const space = code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0x3000
    if (!space && !inside) n++
    inside = !space
  }
  return n
}
