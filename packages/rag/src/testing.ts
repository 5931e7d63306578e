/**
 * The rules that every index keeps, as vitest tests. `@heddle/rag/rules` has them for
 * other runners.
 *
 * @example
 * ```ts no-run
 * import { type DocumentIndex, type Retriever } from "@heddle/rag"
 * import { documentIndex } from "@heddle/rag/testing"
 * import type { Layer } from "effect"
 *
 * declare const myIndex: Layer.Layer<DocumentIndex.DocumentIndex | Retriever.Retriever>
 *
 * documentIndex("my index", myIndex)
 * ```
 */
import { type Suite, suite } from "@heddle/testing/vitest"
import type { DocumentIndex } from "./DocumentIndex.ts"
import { rules } from "./internal/indexRules.ts"
import type { Retriever } from "./Retriever.ts"

/**
 * Tests that an index keeps the rules, in the suite that it is called in, or in one of
 * its own if that has a name. What the layer gives has to be a retriever of what is put
 * into its index, by its words at least: by meaning alone, the words of the rules would
 * have to be known to the model. The layer is built anew for each rule.
 */
export const documentIndex: Suite<DocumentIndex | Retriever> = suite(rules)
