/**
 * Checks the agents of this folder, indexes its notes, and asks each agent something:
 * `npx -y pnpm@10 example agents`. Works offline; with an API key in the environment a
 * real model answers. What is kept is gone afterwards.
 */
import { Cli } from "@heddle/cli"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { commands } from "./commands.ts"

process.chdir(path.dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(path.join(tmpdir(), "heddle-agents-"))
const quoted = (arg: string) => (/^[\w./:-]+$/.test(arg) ? arg : JSON.stringify(arg))

for (const args of commands(path.join(folder, "heddle.db"))) {
  process.stdout.write(`\n$ heddle ${args.map(quoted).join(" ")}\n`)
  const status = await Effect.runPromise(Cli.main(args, { input: "" }))
  if (status !== 0) {
    process.exitCode = status
    break
  }
}
rmSync(folder, { recursive: true })
