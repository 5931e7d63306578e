/**
 * The rules that every store of conversations keeps, with what checks them: for a
 * test runner other than vitest, for which `@heddle/memory/testing` has them ready.
 *
 * @example
 * ```ts
 * import { Conversations } from "@heddle/memory"
 * import { ConversationRules } from "@heddle/memory/rules"
 * import { Effect } from "effect"
 *
 * const check = Effect.forEach(ConversationRules.rules, ({ check }) =>
 *   Effect.provide(check, Conversations.layerMemory())
 * )
 * ```
 */
export * as ConversationRules from "./internal/conversationRules.ts"
