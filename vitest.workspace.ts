import { existsSync, readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

const folders = (parent: string): ReadonlyArray<string> =>
  existsSync(parent)
    ? readdirSync(parent, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && entry.name !== "dist")
        .map((entry) => `${parent}/${entry.name}`)
    : []

const hasTest = (folder: string): boolean =>
  readdirSync(folder).some((name) => name.endsWith(".test.ts")) || folders(folder).some(hasTest)

export default defineConfig({
  test: {
    // Properties run many worlds; a slow machine takes its time.
    testTimeout: 120_000,
    // Tests wait for other programs as often as they compute.
    maxWorkers: "100%",
    minWorkers: 1,
    // Packages are imported from source, through their `exports`.
    projects: [".ci", ...folders("packages"), ...folders("examples")].filter(hasTest).map((root) => ({
      extends: true,
      test: { name: root, root, include: ["**/*.test.ts"] }
    })),
    coverage: {
      provider: "v8",
      reporter: ["text-summary", "json-summary"],
      include: ["packages/*/src/**/*.ts"],
      exclude: ["packages/bench/**", "packages/*/src/index.ts"],
      thresholds: {
        "packages/cli/src/**/*.ts": { lines: 85 },
        "packages/core/src/**/*.ts": { lines: 95 },
        "packages/memory/src/**/*.ts": { lines: 90 },
        "packages/models/src/**/*.ts": { lines: 90 },
        "packages/rag/src/**/*.ts": { lines: 90 },
        "packages/sql/src/**/*.ts": { lines: 90 },
        "packages/workflow/src/**/*.ts": { lines: 95 }
      }
    }
  }
})
