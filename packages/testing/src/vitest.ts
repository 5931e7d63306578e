/**
 * The laws, and the rules of a port, as vitest tests.
 *
 * @example
 * ```ts no-run
 * import { Handler } from "@heddle/core"
 * import { Laws } from "@heddle/testing/vitest"
 * import { describe } from "vitest"
 *
 * describe("my handler", () => Laws.handler(Handler.instructions("Be brief.")))
 * ```
 */
export * as Laws from "./internal/laws.ts"
export { type Suite, suite } from "./internal/ruleTests.ts"
