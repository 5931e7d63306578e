/**
 * What an answer was made of, which its message keeps, and what of it the answer cites.
 */
import { type AgentRun, ChatModel, type Message } from "@heddle/core"
import type * as RagSection from "../RagSection.ts"
import { withoutCode } from "./code.ts"
import { metadataKey } from "./metadataKey.ts"

/** A passage that the model was shown, or that what it was shown is made of, without its text. */
export interface Shown extends Omit<RagSection.Numbered, "text"> {}

/** A passage that an answer cites, and where in the text. */
export interface Citation extends Shown {
  /** Where the mark begins, in characters from 0; each place that cites the passage. */
  readonly places: ReadonlyArray<number>
}

const takenKey = `${metadataKey}/taken`

/** How many numbers the handlers further out have given in this run. */
export const taken = ({ options: { metadata } }: AgentRun.RunConfig): number => {
  const last = metadata[takenKey]
  return typeof last === "number" ? last : 0
}

/** The same run, in which handlers further inside number on from what was found. */
export const taking = (run: AgentRun.RunConfig, { passages }: RagSection.Found): AgentRun.RunConfig => {
  const last = passages.at(-1)
  if (last === undefined) return run
  return { ...run, options: { ...run.options, metadata: { ...run.options.metadata, [takenKey]: last.number } } }
}

/** The answer's message keeps what it was made of, besides what handlers further inside have shown. */
export const marked = (
  result: AgentRun.AgentResult,
  { passages }: RagSection.Found,
  usage: ChatModel.Usage
): AgentRun.AgentResult => {
  const last = result.history.at(-1)
  const spent = usage === ChatModel.noUsage ? result : { ...result, usage: ChatModel.addUsage(result.usage, usage) }
  if (passages.length === 0 || last?.role !== "assistant") return spent
  const shown = passages.map(({ id, metadata, number, score, source }): Shown => {
    return { number, id, source, score, metadata }
  })
  const inner = shownBy(last).filter(({ number }) => number > shown.at(-1)!.number)
  const metadata = { ...last.metadata, [metadataKey]: { shown: [...shown, ...inner] } }
  return { ...spent, history: result.history.with(result.history.length - 1, { ...last, metadata }) }
}

/** The passages that the model was shown for an answer, or that what it was shown is made of. */
export const shown = ({ history }: Pick<AgentRun.AgentResult, "history">): ReadonlyArray<Shown> =>
  shownBy(history.at(-1))

const shownBy = (message: Message.Message | undefined): ReadonlyArray<Shown> => {
  const kept = message?.metadata?.[metadataKey]
  // What stands there is what `marked` has written.
  return (kept as { readonly shown: ReadonlyArray<Shown> } | undefined)?.shown ?? []
}

/** A number in brackets, or several; not the text of a link, as in `[1](https://example.com)`. */
const mark = /\[(\d+(?:\s*,\s*\d+)*)\](?!\()/g

/** The passages that an answer cites by their numbers, in the order of the numbers. What stands in code is no mark. */
export const citations = (result: Pick<AgentRun.AgentResult, "history" | "text">): ReadonlyArray<Citation> => {
  const places = new Map<number, Array<number>>()
  for (const { 1: numbers, index } of withoutCode(result.text).matchAll(mark)) {
    for (const number of new Set(numbers!.split(",").map(Number)))
      places.set(number, [...(places.get(number) ?? []), index])
  }
  return shown(result).flatMap((passage) => {
    const found = places.get(passage.number)
    return found === undefined ? [] : [{ ...passage, places: found }]
  })
}
