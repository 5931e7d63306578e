/**
 * Which passages fit a question: BM25 over sentences, with the heading that a
 * sentence stands under counted at half its weight.
 */
import { fold, stem, words } from "@heddle/core/words"

/** A sentence, a table row or a list item, and where it is from. */
export interface Passage {
  readonly text: string
  /** What it stands under: headings, or the tool and arguments that it answers. */
  readonly heading: string
  readonly source: string
  /** How it is to be cited, if not by its source; `""` where the text says it itself. */
  readonly cite?: string
  /** How much its origin counts. */
  readonly weight: number
  /** Whether it belongs to what stands before it, as the items of a list do. */
  readonly item: boolean
}

/** A passage that fits. */
export interface Hit {
  readonly index: number
  readonly passage: Passage
  readonly score: number
  /** How many words of the question it has. */
  readonly matched: number
}

const k = 1.2
const b = 0.6
const headingWeight = 0.5

/** A piece that every word of the stem has in it: cheap to look for. */
const probe = (term: string) => (term.length > 4 ? term.slice(0, -1) : term)

const add = (counts: Map<string, number>, asked: ReadonlySet<string>, text: string, weight: number) => {
  for (const word of words(text)) {
    const term = stem(word)
    if (asked.has(term)) counts.set(term, (counts.get(term) ?? 0) + weight)
  }
}

/** The passages that have words of the question, best first; of equals the earlier first. */
export const rank = (question: ReadonlyArray<string>, passages: ReadonlyArray<Passage>): ReadonlyArray<Hit> => {
  if (question.length === 0 || passages.length === 0) return []
  const asked = new Set(question)
  const probes = question.map(probe)
  const inHowMany = new Map<string, number>()
  const found: Array<readonly [index: number, counts: ReadonlyMap<string, number>]> = []
  let length = 0
  passages.forEach(({ heading, text }, index) => {
    length += text.length
    const folded = fold(`${text} ${heading}`)
    if (!probes.some((probe) => folded.includes(probe))) return
    const counts = new Map<string, number>()
    add(counts, asked, text, 1)
    add(counts, asked, heading, headingWeight)
    if (counts.size === 0) return
    found.push([index, counts])
    for (const term of counts.keys()) inHowMany.set(term, (inHowMany.get(term) ?? 0) + 1)
  })
  const n = passages.length
  const average = length / n
  return found
    .map(([index, counts]): Hit => {
      const passage = passages[index]!
      let score = 0
      for (const [term, tf] of counts) {
        const df = inHowMany.get(term)!
        const size = 1 - b + (b * passage.text.length) / average
        score += (Math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf * (k + 1)) / (tf + k * size)
      }
      const covered = counts.size / question.length
      return { index, passage, score: score * passage.weight * (0.5 + covered), matched: counts.size }
    })
    .toSorted((x, y) => y.score - x.score || x.index - y.index)
}

/** Whether a passage has enough of the question to be an answer to it. */
export const fits = (hit: Hit, question: ReadonlyArray<string>): boolean =>
  hit.matched >= Math.min(3, Math.ceil(question.length / 3))
