/**
 * The rules that every store of conversations keeps, as vitest tests.
 * `@heddle/memory/rules` has them for other runners.
 *
 * @example
 * ```ts no-run
 * import { Conversations } from "@heddle/memory"
 * import { conversations } from "@heddle/memory/testing"
 *
 * conversations("the store in memory", Conversations.layerMemory())
 * ```
 */
import { type Suite, suite } from "@heddle/testing/vitest"
import type * as Layer from "effect/Layer"
import { it } from "vitest"
import type { Conversations } from "./Conversations.ts"
import { rules } from "./internal/conversationRules.ts"
import { type AgreementOptions, checkAgreement } from "./internal/conversationScripts.ts"

export type { AgreementOptions } from "./internal/conversationScripts.ts"

/**
 * Tests that a store keeps the rules, in the suite that it is called in, or in
 * one of its own if that has a name. The layer is built anew for each rule, and
 * has to give an empty store with room for 100 conversations.
 */
export const conversations: Suite<Conversations> = suite(rules)

/**
 * Tests that nobody can tell a store from the one in memory by what it does: random
 * scripts of operations give the same on both. The layer is built anew for each
 * script, and has to give an empty store with room for 10 conversations.
 */
export const conversationsAgree = <E>(
  name: string,
  layer: Layer.Layer<Conversations, E>,
  options?: AgreementOptions
): void => {
  it(name, () => checkAgreement(layer, options))
}
