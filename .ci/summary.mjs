// Prints vitest's counts, and fails when a test failed or none passed.
import { readFileSync } from "node:fs"

/** @param {string} file */
const counts = (file) => {
  try {
    const report = JSON.parse(readFileSync(file, "utf8"))
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + report.testResults.filter(isUnloaded).length,
      skipped: report.numPendingTests + report.numTodoTests
    }
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

/**
 * A test file that could not be loaded has no failed test: it counts as one.
 *
 * @param {{ status: string, assertionResults: ReadonlyArray<unknown> }} file
 */
const isUnloaded = ({ assertionResults, status }) => status === "failed" && assertionResults.length === 0

const { failed, passed, skipped } = counts(process.argv[2] ?? "")
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
