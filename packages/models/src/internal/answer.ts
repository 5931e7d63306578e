/**
 * The answer: the passages that fit the question best, each source named.
 */
import { type ChatModel, Message } from "@heddle/core"
import { isStopWord, stem, terms, words } from "@heddle/core/words"
import { callsOf, exchange, instructionPassages, type Known, known, type Question } from "./evidence.ts"
import { type Clues, fit } from "./fit.ts"
import { setbacks } from "./plan.ts"
import { fits, type Hit, type Passage, rank } from "./rank.ts"

const mostPassages = 3
const mostItems = 6
const shortResult = 300

/** What this model is, said where it has nothing else to say. */
const whatIAm =
  "I am Heddle's offline model: no language model, but a search that quotes the sentences of tool results and of this conversation that fit a question best."

/** Passages that answer, and all that they were taken from. */
interface Selection {
  readonly hits: ReadonlyArray<Hit>
  readonly pool: ReadonlyArray<Passage>
}

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Of a question for what a thing is: how a sentence begins that says it. */
const definition = (question: string): RegExp | undefined => {
  const thing = /^\s*(?:what|who)(?:\s+(?:is|are)|['’]s)\s+(?:an?\s+|the\s+)?([^?.!]{1,60})[?.!]?\s*$/i.exec(
    question
  )?.[1]
  return thing === undefined
    ? undefined
    : new RegExp(`^\\W*(?:(?:an?|the)\\s+)?\\W*${escape(thing.trim())}\\W*\\s(?:is|are)\\b`, "i")
}

const best = (question: string, query: ReadonlyArray<string>, pool: ReadonlyArray<Passage>): Selection => {
  const says = definition(question)
  const ranked = rank(query, pool).filter((hit) => fits(hit, query))
  const hits =
    says === undefined
      ? ranked
      : ranked.toSorted((a, b) => Number(says.test(b.passage.text)) - Number(says.test(a.passage.text)))
  const seen = new Set<string>()
  const kept: Array<Hit> = []
  for (const hit of hits) {
    if (kept.length === mostPassages || hit.score < hits[0]!.score * 0.55) break
    const key = words(hit.passage.text).join(" ")
    if (!seen.has(key)) kept.push(hit)
    seen.add(key)
  }
  return { hits: kept, pool }
}

/** What a text is about: its commonest words. */
const themes = (text: string): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const word of words(text.slice(0, 1_000_000))) {
    if (!isStopWord(word) && word.length > 2) counts.set(stem(word), (counts.get(stem(word)) ?? 0) + 1)
  }
  return Array.from(counts)
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, 8)
    .map(([term]) => term)
}

const select = (request: ChatModel.ModelRequest, asked: Question, { before, now }: Known): Selection => {
  const query = terms(asked.text)
  const all = best(asked.text, query, [...now, ...before])
  // Where tools were asked, what they said comes before what was said earlier.
  const fresh = all.hits.some((hit) => hit.index < now.length)
    ? all
    : now.length > 0
      ? best(asked.text, query, now)
      : all
  if (fresh.hits.length > 0) return fresh
  const bare = bareResults(request)
  if (bare.length > 0)
    return { hits: bare.map((passage, index) => ({ index, passage, score: 1, matched: 0 })), pool: bare }
  if (all.hits.length > 0) return all
  if (callsOf(exchange(request)).length > 0) return all
  const told = best(asked.text, query, instructionPassages(request))
  if (told.hits.length > 0 || asked.material === "") return told
  // Nothing in the text has the words of the request ("Summarize this."): then what is most about its themes.
  return best("", themes(asked.material), before)
}

/** Results so short that they are an answer as they are. */
const bareResults = (request: ChatModel.ModelRequest): ReadonlyArray<Passage> =>
  callsOf(exchange(request)).flatMap(({ name, outcome }) => {
    const text = outcome._tag === "Succeeded" ? Message.renderOutcome(outcome).trim() : ""
    const empty = /^["[\]{}\s]*$|^null$/.test(text.slice(0, shortResult))
    return empty || text.length > shortResult ? [] : [{ text, heading: "", source: name, weight: 1, item: false }]
  })

/** A passage, with the list that it announces. */
const withItems = ({ index, passage }: Hit, pool: ReadonlyArray<Passage>): string => {
  if (!passage.text.endsWith(":")) return passage.text
  const items: Array<string> = []
  for (let i = index + 1; i < pool.length && items.length < mostItems; i++) {
    const next = pool[i]!
    if (!next.item || next.source !== passage.source) break
    items.push(`\n- ${next.text}`)
  }
  return passage.text + items.join("")
}

const prose = ({ hits, pool }: Selection): string => {
  const groups = new Map<string, Array<Hit>>()
  for (const hit of hits) {
    const { cite, source } = hit.passage
    const mark = cite ?? `(${source})`
    groups.set(mark, [...(groups.get(mark) ?? []), hit])
  }
  return Array.from(groups, ([mark, group]) => {
    const texts = group.toSorted((a, b) => a.index - b.index).map((hit) => withItems(hit, pool))
    const text = texts.reduce((text, next) =>
      text.includes(next) ? text : `${text}${text.includes("\n") ? "\n" : " "}${next}`
    )
    return mark === "" || text.endsWith(mark) ? text : `${text} ${mark}`
  }).join("\n\n")
}

/** The answer as text. */
export const answer = (request: ChatModel.ModelRequest, asked: Question): string => {
  const selection = select(request, asked, known(request, asked))
  // Who asks for notes on a passage wants none where there is nothing to note.
  if (selection.hits.length === 0 && request.purpose === "rag_map") return "NOTHING"
  const notes = setbacks(request)
  if (selection.hits.length > 0) return [...notes, prose(selection)].join("\n\n")
  if (notes.length > 0) return [...notes, whatIAm].join("\n\n")
  if (asked.text === "") return `There is no question to answer.\n\n${whatIAm}`
  const looked = Array.from(new Set(callsOf(exchange(request)).map((call) => call.name)))
  const where = looked.length === 0 ? "this conversation" : `what ${looked.join(" and ")} gave`
  return `I found nothing that answers this in ${where}.\n\n${whatIAm}`
}

// -----------------------------------------------------------------------------
// answers as JSON
// -----------------------------------------------------------------------------

const has = (name: string, kinds: string) => words(name).some((word) => kinds.split(" ").includes(stem(word)))

/** The answer as JSON that fits `schema`. */
export const jsonAnswer = (request: ChatModel.ModelRequest, asked: Question, schema: object): string => {
  const everything = known(request, asked)
  const { hits, pool } = select(request, asked, everything)
  const texts = hits.map((hit) => hit.passage.text)
  const query = terms(asked.text)
  const facts = [...texts, ...(hits.length > 0 ? pool : everything.now).slice(0, 1_000).map((passage) => passage.text)]

  /** What stands behind the name of a place, as in `celsius: 18`. */
  const field = (name: string): string | undefined => {
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escape(name)}["']?\\s{0,3}[:=]\\s{0,3}([^,;\\n]{1,300})`, "iu")
    for (const fact of facts) {
      const value = pattern.exec(fact)?.[1]?.trim()
      if (value !== undefined && value !== "") return value
    }
    return undefined
  }
  const clues: Clues = {
    strings: (name, description) => {
      if (has(name, "sourc citation referenc origin")) return Array.from(new Set(hits.map((hit) => hit.passage.source)))
      if (has(name, "question query input")) return asked.text === "" ? [] : [asked.text]
      const given = field(name)
      const whole =
        has(name, "answer text summary respons reply content explanation message result") && texts.length > 0
      const near = rank([...query, ...terms(`${name} ${description}`)], hits.length > 0 ? pool : [])
        .slice(0, mostPassages)
        .map((hit) => hit.passage.text)
      return [...(given === undefined ? [] : [given]), ...(whole ? [texts.join(" ")] : []), ...near, ...texts]
    },
    numbers: (name) => {
      const given = Number.parseFloat(field(name) ?? "")
      const wanted = new Set(terms(name))
      const near = texts.filter((text) => words(text).some((word) => wanted.has(stem(word))))
      const all = near
        .concat(texts.filter((text) => text.length < 40))
        .flatMap((text) => text.match(/-?\d+(?:\.\d+)?/g) ?? [])
      return [...(Number.isNaN(given) ? [] : [given]), ...all.map(Number)]
    },
    booleans: (name) => {
      const given = field(name)?.toLowerCase()
      return given === undefined
        ? undefined
        : given.startsWith("true") || given.startsWith("yes")
          ? true
          : given.startsWith("false") || given.startsWith("no")
            ? false
            : undefined
    },
    texts: [asked.text, ...(asked.material === "" ? [] : [asked.material.slice(0, 100_000)]), ...texts]
  }
  return JSON.stringify(fit(schema, schema, clues))
}
