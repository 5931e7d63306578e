/**
 * The rules that every store of conversations keeps, as values: each is a check of
 * the store that it is given, which has to be empty. A rule uses 100 conversations,
 * and 100 exchanges of a conversation, at the most.
 */
import type { Rules } from "@heddle/testing"
import type { Conversations } from "../Conversations.ts"
import { changing } from "./rules/changing.ts"
import { keeping } from "./rules/keeping.ts"
import { knowing } from "./rules/knowing.ts"
import { listing } from "./rules/listing.ts"
import { refusing } from "./rules/refusing.ts"
import { together } from "./rules/together.ts"

export { Violation } from "@heddle/testing/Rules"
export { type AgreementOptions, checkAgreement } from "./conversationScripts.ts"

/** A rule, and the check of it. Fails, or dies, if the store breaks the rule. */
export type Rule = Rules.Rule<Conversations>

/** The rules. */
export const rules: ReadonlyArray<Rule> = [...keeping, ...knowing, ...refusing, ...changing, ...together, ...listing]
