import { expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

/**
 * A generator function that is made in a function, which nothing but the code can show:
 * V8 makes a hidden class for each in the old part of the heap, which holds all that the
 * function sees until the next great collection.
 */
it("no run makes a generator function", () => {
  const folder = new URL("../src/", import.meta.url)
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
  expect(sources).toContain("internal/loop.ts")
  const nested = sources.flatMap((source) => {
    const code = readFileSync(new URL(source, folder), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
    // Those of the module stand at its left edge, or are the body of an `Effect.fnUntraced` that does.
    return (code.match(/^.*\bfunction\*.*$/gm) ?? [])
      .filter(
        (line) =>
          !/^(?:export )?(?:function\*|const \w+.*= Effect\.fnUntraced\(function\*|\) => .*fnUntraced\(function\*)/.test(
            line
          )
      )
      .map((line) => `${source}: ${line.trim()}`)
  })
  expect(nested).toEqual([])
})
