/**
 * Case H: what it takes to import the core, and to make an agent.
 *
 * The import is timed inside fresh node processes, from a bundle of the core.
 * The subject "effect" imports the modules of Effect that the core imports, and
 * "javascript" an empty module, which is the floor.
 */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { Agent, Pipeline, Tools } from "@heddle/core"
import * as BareEffect from "./bareEffect.ts"
import * as BareJavaScript from "./bareJavaScript.ts"
import * as Heddle from "./heddle.ts"
import { assert, type Competitor, heapUsed, measure, type Result, type Subject, summary } from "./measure.ts"
import { instructions, nothingSeen } from "./work.ts"

const subjects: ReadonlyArray<Subject> = ["heddle", "effect", "javascript"]

// -----------------------------------------------------------------------------
// import
// -----------------------------------------------------------------------------

/** Writes the modules to import beside this program, so that they find `effect`. */
const writeModules = (): Readonly<Record<Subject, string>> => {
  const load = createRequire(import.meta.url)
  const { buildSync } = load("esbuild") as typeof import("esbuild")
  const file = (name: string) => fileURLToPath(new URL(`./import-${name}.mjs`, import.meta.url))
  const modules = { heddle: file("heddle"), effect: file("effect"), javascript: file("nothing") }
  buildSync({
    entryPoints: [load.resolve("@heddle/core")],
    outfile: modules.heddle,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["effect", "effect/*"]
  })
  const imported = new Set(readFileSync(modules.heddle, "utf8").match(/(?<=from ")effect[^"]*(?=")/g))
  assert(imported.size > 0, "the core's bundle imports effect")
  writeFileSync(modules.effect, Array.from(imported, (name) => `import "${name}"\n`).join(""))
  writeFileSync(modules.javascript, "")
  return modules
}

const run = promisify(execFile)

const importTime = async (file: string): Promise<number> => {
  const program = `const start = performance.now()
await import(${JSON.stringify(pathToFileURL(file).href)})
console.log(performance.now() - start)`
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program])
  const ms = Number(stdout)
  assert(ms > 0, `importing ${file}`)
  return ms
}

const imports = async (): Promise<ReadonlyArray<Result>> => {
  const modules = writeModules()
  const samples: Record<Subject, Array<number>> = { heddle: [], effect: [], javascript: [] }
  // The first round fills the caches of the file system.
  for (let round = -1; round < 11; round++) {
    for (const subject of subjects) {
      const ms = await importTime(modules[subject])
      if (round >= 0) samples[subject].push(ms)
    }
  }
  return subjects.map((subject) => ({ case: "H: import", subject, unit: "ms", ...summary(samples[subject]) }))
}

// -----------------------------------------------------------------------------
// making an agent
// -----------------------------------------------------------------------------

const seen = nothingSeen()
const tools = Tools.make(Heddle.tool)
const handlers = Pipeline.make(...Array.from({ length: 10 }, (_, i) => Heddle.handler(seen, i)))
const effectHooks = Array.from({ length: 10 }, (_, i) => BareEffect.hooks(seen, i))
const javascriptHooks = Array.from({ length: 10 }, (_, i) => BareJavaScript.hooks(seen, i))

/** An agent with one tool and 10 handlers, which are there already. */
const makers: Readonly<Record<Subject, () => { readonly name: string }>> = {
  heddle: () => Agent.make({ name: "calculator", instructions, tools, handlers }),
  effect: () => BareEffect.make(effectHooks),
  javascript: () => BareJavaScript.make(javascriptHooks)
}

const making = (subject: Subject): Competitor => {
  const make = makers[subject]
  return {
    case: "H: making an agent of 10 handlers",
    subject,
    unit: "µs",
    run: (times) => {
      let made = 0
      for (let i = 0; i < times; i++) made += make().name.length
      assert(made === times * "calculator".length, `${subject} makes agents`)
    }
  }
}

const weigh = (subject: Subject): number => {
  const many = 2_000
  const agents: Array<unknown> = Array.from({ length: many })
  const before = heapUsed()
  for (let i = 0; i < many; i++) agents[i] = makers[subject]()
  const bytes = heapUsed() - before
  assert(
    agents.every((agent) => agent !== undefined),
    `${subject} keeps its agents`
  )
  return bytes / 1024 / many
}

const weighings = (): ReadonlyArray<Result> =>
  subjects.map((subject) => ({
    case: "H: heap of an agent of 10 handlers",
    subject,
    unit: "KB",
    ...summary(Array.from({ length: 5 }, () => weigh(subject)))
  }))

export const caseH = async (): Promise<ReadonlyArray<Result>> => [
  ...(await imports()),
  ...(await measure(subjects.map(making))),
  ...weighings()
]
