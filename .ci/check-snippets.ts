import { spawn } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import type { Snippet } from "./snippets.ts"

const root = join(import.meta.dirname, "..")
const bin = (name: string) => join(root, "node_modules", ".bin", name)

/**
 * Compiles the snippets together, runs those that run, and answers with the
 * failures, each as `file:line: reason`. `folder` is emptied first; it has to be
 * inside the repository, so that the snippets find the packages.
 */
export const checkSnippets = async (
  snippets: ReadonlyArray<Snippet>,
  folder: string
): Promise<ReadonlyArray<string>> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  snippets.forEach(({ code }, index) => writeFileSync(join(folder, `${index}.ts`), `${code}\n`))
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { noEmit: true, composite: false, noUnusedLocals: false },
      include: ["*.ts"]
    })
  )
  const wrong = await compile(snippets, folder)
  const runs = snippets.map((snippet, index) => ({ snippet, file: join(folder, `${index}.ts`) }))
  const ran = await inParallel(
    runs.filter(({ snippet }) => snippet.runs),
    run
  )
  return [...wrong, ...ran.flat()]
}

/** The compiler's messages, with the places turned into places in the documents. */
const compile = async (snippets: ReadonlyArray<Snippet>, folder: string): Promise<ReadonlyArray<string>> => {
  const { code, output } = await execute(bin("tsc"), ["-p", "tsconfig.json", "--pretty", "false"], folder)
  if (code === 0) return []
  return output
    .trimEnd()
    .split(/\n(?! )/)
    .map((message) =>
      message.replace(/^(\d+)\.ts\((\d+),\d+\)/, (place, index: string, line: string) => {
        const snippet = snippets[Number(index)]
        return snippet === undefined ? place : `${snippet.file}:${snippet.line + Number(line) - 1}`
      })
    )
}

const run = async ({ file, snippet }: { readonly file: string; readonly snippet: Snippet }) => {
  const { code, output } = await execute(bin("tsx"), [file], root)
  const place = `${snippet.file}:${snippet.line}`
  if (code !== 0) return [`${place}: exit code ${code}\n${output}`]
  if (snippet.output === undefined || snippet.output === output.trim()) return []
  return [`${place}: printed\n${output.trim()}\ninstead of\n${snippet.output}`]
}

const execute = (command: string, args: ReadonlyArray<string>, cwd: string) =>
  new Promise<{ readonly code: number | string; readonly output: string }>((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 })
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ code: code ?? signal ?? 1, output }))
  })

const inParallel = async <A, B>(items: ReadonlyArray<A>, f: (item: A) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await f(item)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return results
}
