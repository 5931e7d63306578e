/**
 * Measures the agent of `@heddle/core` beside loops written by hand, with Effect
 * and with promises, that do the same work with a model that answers at once.
 *
 * Arguments: letters of cases (all without), and `--json` for one JSON object
 * instead of a table. Needs `node --expose-gc`.
 */
import { createRequire } from "node:module"
import { availableParallelism, cpus } from "node:os"
import { caseH } from "./agents.ts"
import { caseL } from "./aiSdk.ts"
import { caseN } from "./command.ts"
import { caseE } from "./concurrent.ts"
import { caseK } from "./database.ts"
import { caseI } from "./instructions.ts"
import { caseA, caseB, caseC, caseD } from "./loops.ts"
import type { Result } from "./measure.ts"
import { caseJ } from "./memory.ts"
import { caseM } from "./retrieval.ts"
import { caseF } from "./streaming.ts"
import { table, type Target } from "./table.ts"
import { caseG } from "./workflows.ts"

const cases: Readonly<Record<string, () => Promise<ReadonlyArray<Result>>>> = {
  A: caseA,
  B: caseB,
  C: caseC,
  D: caseD,
  E: caseE,
  F: caseF,
  G: caseG,
  H: caseH,
  I: caseI,
  J: caseJ,
  K: caseK,
  L: caseL,
  M: caseM,
  N: caseN
}

const targets: Readonly<Record<string, Target>> = {
  "A: one model call": { times: 4 },
  "B: one tool call, 10 handlers": { times: 3 },
  "C: one tool call, 50 handlers": { times: 3 },
  "D: a turn of 100": { times: 8 },
  "D: a turn of 400": { times: 8 },
  "D: a turn of 400 against one of 100": { most: 1.2 },
  "E: 10,000 runs at once": { times: 3 },
  "E: heap of a held run": { most: 12 },
  "E: wrong instructions": { most: 0 },
  "F: a part from a list, 5 handlers": { most: 1_000 },
  "G-sequential: ten function steps": { times: 5 },
  "G: what showing the runs adds to a step": { most: 10 },
  "G: what showing and recording add to a step": { most: 10 },
  "G-parallel: eight branches": { times: 1.5 },
  "I: reading the rendered text": { most: 50 },
  "I: setting a scoped value": { most: 100 },
  "I: appending a section to five": { most: 500 },
  "J: what the memory adds to a run": { most: 20 },
  "K: append 2 KB to 10 exchanges": { most: 0.5 },
  "K: append 2 KB to 100,000 exchanges": { most: 0.5 },
  "K: append at 100,000 against 10": { most: 1.5 },
  "K: read the last 20 of 100,300": { most: 2 },
  "K: size on disk over that of the text": { most: 2 },
  "L: a reply in one piece": { times: 2 },
  "L: a stream of 200 parts": { times: 2 },
  "M: index 10,000 chunks, in memory by words": { most: 10_000 },
  "M: index 10,000 chunks, in a file by words": { most: 10_000 },
  "M: search them, in a file by words and vectors": { most: 10 },
  "M: what the handler adds to a run": { most: 30 },
  "N: heddle --version": { times: 2 },
  "N: the first text of a run, offline": { most: 700 },
  "N: what 500 agent files add": { most: 500 }
}

const packageVersion = (name: string): string => {
  const load = createRequire(import.meta.url)
  const { version } = load(`${name}/package.json`) as { readonly version: string }
  return version
}

const environment = {
  node: process.version,
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  platform: `${process.platform} ${process.arch}`,
  cores: availableParallelism(),
  effect: packageVersion("effect"),
  date: new Date().toISOString()
}

const args = process.argv.slice(2)
const json = args.includes("--json")
const wanted = args.filter((arg) => !arg.startsWith("--")).flatMap((arg) => arg.toUpperCase().split(""))
const unknown = wanted.find((letter) => !(letter in cases))
if (unknown !== undefined) {
  console.error(`There is no case ${unknown}. The cases are ${Object.keys(cases).join(", ")}.`)
  process.exit(2)
}

const results: Array<Result> = []
for (const [letter, run] of Object.entries(cases)) {
  if (wanted.length > 0 && !wanted.includes(letter)) continue
  if (!json) process.stderr.write(`case ${letter} …\n`)
  results.push(...(await run()))
}

if (json) console.log(JSON.stringify({ environment, results }, null, 2))
else {
  const { cores, cpu, date, effect, node, platform } = environment
  console.log(`Node ${node}, effect ${effect}, ${cpu}, ${cores} cores, ${platform}, ${date}`)
  console.log("Median (minimum–maximum); the last columns compare medians.\n")
  console.log(table(results, targets))
}
