/**
 * The rules that every index keeps which documents are put into and found in, as
 * values: each is a check of the index that it is given, which has to be empty. A
 * rule puts 100 documents at the most.
 */
import type { Rules } from "@heddle/testing"
import type { DocumentIndex } from "../DocumentIndex.ts"
import type { Retriever } from "../Retriever.ts"
import { finding } from "./rules/finding.ts"
import { keeping } from "./rules/keeping.ts"
import { together } from "./rules/together.ts"

export { Violation } from "@heddle/testing/Rules"

/** A rule, and the check of it. Fails, or dies, if the index breaks the rule. */
export type Rule = Rules.Rule<DocumentIndex | Retriever>

/** The rules. */
export const rules: ReadonlyArray<Rule> = [...keeping, ...finding, ...together]
