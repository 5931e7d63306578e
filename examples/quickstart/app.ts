/**
 * The agent of the quickstart.
 */
import { Agent, Handler, Pipeline } from "@heddle/core"
import type { Effect } from "effect"
import { confine, guide } from "./handlers.ts"
import type { Library } from "./Library.ts"
import { type Span, timing } from "./timing.ts"
import { ToolCache } from "@heddle/example-caching-handler/ToolCache.ts"
import { libraryTools } from "./tools.ts"

/** The handlers, in their order: `confine` judges before the cache may answer. */
export const pipeline = (library: Library, report: (spans: ReadonlyArray<Span>) => Effect.Effect<void>) =>
  Pipeline.make(
    guide,
    // What is built later is described here, so that the explained pipeline can say it.
    Handler.declare(timing(report), { hooks: ["wrapAgent", "wrapModelCall", "wrapToolCall"] }),
    confine(library),
    Handler.declare(ToolCache, { hooks: ["wrapToolCall"], needs: [ToolCache] })
  )

/** An agent that answers from the documents of a library. */
export const librarian = <P, E, R, H>(library: Library, handlers: Pipeline.Pipeline<P, E, R, H>) =>
  Agent.make({
    name: "librarian",
    instructions: "You answer questions from the documents. Search them, read what looks right, then answer.",
    tools: libraryTools(library),
    handlers,
    maxSteps: 12,
    onStepLimit: "answer"
  })
