/**
 * Case N: the `heddle` command, as processes of their own: how soon it is there, how
 * soon a run shows its first text, and what 500 files of agents add.
 *
 * The subject "effect" starts Node and imports `effect`, and "javascript" starts Node
 * with nothing to do.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { assert, type Result, type Subject, summary } from "./measure.ts"

const packages = fileURLToPath(new URL("../../", import.meta.url))
const command = path.join(packages, "cli/bin/heddle.mjs")
const rounds = 15
const files = 500

interface Timed {
  /** Milliseconds from the start of the process. */
  readonly first: number
  readonly end: number
  readonly output: string
}

/** Runs Node to its end, where nothing of this machine's user is found. */
const node = async (args: ReadonlyArray<string>, folder: string): Promise<Timed> => {
  const home = path.join(folder, "home")
  const env = { PATH: process.env["PATH"], HOME: home, HEDDLE_MODEL: "offline/offline" }
  const started = performance.now()
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] })
  let first = Number.NaN
  let output = ""
  child.stdout.on("data", (piece: Buffer) => {
    if (output === "") first = performance.now() - started
    output += piece.toString()
  })
  const [status] = (await once(child, "close")) as [number | null]
  assert(status === 0, `node ${args.join(" ")} ends well`)
  return { first, end: performance.now() - started, output }
}

/** A project with agents, and a clerk who knows what is asked. */
const project = (agents: number): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "heddle-bench-"))
  mkdirSync(path.join(folder, "agents"))
  for (let i = 0; i < agents; i++) {
    const head = [
      `title: Agent ${i}`,
      `description: Knows what the office does on day ${i}.`,
      "contextMode: selective",
      'sharePatterns: ["project uses *", "tech stack: *"]',
      "memory: { strategy: summary, historyLimit: 5 }",
      "tools: { allow: [read_file, search_files] }",
      "maxSteps: 8"
    ]
    const text = `---\n${head.join("\n")}\n---\n\n${"You answer questions. The office opens at nine. ".repeat(20)}\n`
    writeFileSync(path.join(folder, "agents", `agent-${i}.md`), text)
  }
  writeFileSync(path.join(folder, "agents", "clerk.md"), "The office opens at nine.\n")
  return folder
}

/** Makes the command's bundle of the sources as they are. */
const bundled = async () => {
  // Not to be taken into this program's own bundle.
  const script: string = path.join(packages, "cli/bundle.mjs")
  const { bundle } = (await import(script)) as { readonly bundle: () => Promise<void> }
  await bundle()
}

export const caseN = async (): Promise<ReadonlyArray<Result>> => {
  await bundled()
  const one = project(1)
  const many = project(files)
  const importing = path.join(packages, "bench/dist/import-all-of-effect.mjs")
  writeFileSync(importing, 'import "effect"\n')
  const starts: Record<Subject, Array<number>> = { heddle: [], effect: [], javascript: [] }
  const firstText: Array<number> = []
  const added: Array<number> = []
  try {
    // The first round fills the caches of the file system.
    for (let round = -1; round < rounds; round++) {
      const version = await node([command, "--version"], one)
      assert(/^\d+\.\d+\.\d+/.test(version.output), "the version is told")
      const effect = await node([importing], one)
      const nothing = await node(["--eval", "0"], one)
      const run = await node([command, "run", "clerk", "When does the office open?", "--stream"], one)
      assert(run.output.includes("The office opens at nine."), "the agent has answered")
      const few = await node([command, "agents", "list"], one)
      const all = await node([command, "agents", "list"], many)
      assert(all.output.includes(`agent-${files - 1}`), "all files are read")
      if (round < 0) continue
      starts.heddle.push(version.end)
      starts.effect.push(effect.end)
      starts.javascript.push(nothing.end)
      firstText.push(run.first)
      added.push(all.end - few.end)
    }
  } finally {
    rmSync(one, { recursive: true })
    rmSync(many, { recursive: true })
  }
  const subjects: ReadonlyArray<Subject> = ["heddle", "effect", "javascript"]
  return [
    ...subjects.map((subject) => ({
      case: "N: heddle --version",
      subject,
      unit: "ms",
      ...summary(starts[subject])
    })),
    { case: "N: the first text of a run, offline", subject: "heddle", unit: "ms", ...summary(firstText) },
    { case: "N: what 500 agent files add", subject: "heddle", unit: "ms", ...summary(added) }
  ]
}
