/**
 * Measures how well retrieval finds what is asked for, on the labelled set: recall at
 * 5 and mean reciprocal rank, by words, by vectors and by both. The set has two
 * halves; what there is to be tuned was tuned on the first.
 *
 * With `--each`, also the rank at which each question was answered.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { isRight, type Quality, quality, type Ranked, ranked } from "./retrieval/quality.ts"
import { type Question, questions } from "./retrieval/questions.ts"
import { documents, retrievers } from "./retrieval/subjects.ts"

const isCut = (question: Question): boolean =>
  !documents.some(({ chunks, source }) => chunks.some(({ text }) => isRight(question, { source, text })))

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`
const cells = ({ mrr, recallAt5 }: Quality): ReadonlyArray<string> => [percent(recallAt5), mrr.toFixed(3)]

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, i) => Math.max(3, ...rows.map((row) => row[i]!.length)))
  const line = (row: ReadonlyArray<string>) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`
  const [head, ...body] = rows.map(line)
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n")
}

const halves: ReadonlyArray<readonly [string, (i: number) => boolean]> = [
  ["all", () => true],
  ["first half", (i) => i % 2 === 0],
  ["second half", (i) => i % 2 === 1]
]

const overview = (of: ReadonlyArray<readonly [string, ReadonlyArray<Ranked>]>): string =>
  table([
    ["", ...halves.flatMap(([half]) => [`recall at 5, ${half}`, "MRR"])],
    ...of.map(([name, all]) => [name, ...halves.flatMap(([, has]) => cells(quality(all.filter((_, i) => has(i)))))])
  ])

const byKind = (of: ReadonlyArray<readonly [string, ReadonlyArray<Ranked>]>): string => {
  const kinds = Array.from(new Set(questions.map(({ kind }) => kind)))
  return table([
    ["kind of question", "", ...of.flatMap(([name]) => [`recall at 5, ${name}`, "MRR"])],
    ...kinds.map((kind) => {
      const ofKind = of.map(([, all]) => quality(all.filter(({ question }) => question.kind === kind)))
      return [kind, String(ofKind[0]?.questions), ...ofKind.flatMap(cells)]
    })
  ])
}

const each = (of: ReadonlyArray<readonly [string, ReadonlyArray<Ranked>]>): string =>
  table([
    ["question", ...of.map(([name]) => name)],
    ...questions.map(({ question }, i) => [
      question,
      ...of.map(([, all]) => (all[i]!.rank === Infinity ? "–" : String(all[i]!.rank)))
    ])
  ])

const program = Effect.gen(function* () {
  const results = yield* Effect.forEach(yield* retrievers, ([name, retriever]) =>
    Effect.map(ranked(retriever, questions), (all) => [name, all] as const)
  )
  const chunks = documents.reduce((n, { chunks }) => n + chunks.length, 0)
  const cut = questions.filter(isCut).length
  yield* Console.log(`${questions.length} questions, ${documents.length} documents, ${chunks} chunks;`)
  yield* Console.log(`${cut} answers are in no chunk as a whole, and count as not found.\n`)
  yield* Console.log(`${overview(results)}\n\n${byKind(results)}`)
  if (process.argv.includes("--each")) yield* Console.log(`\n${each(results)}`)
})

await Effect.runPromise(Effect.scoped(program))
