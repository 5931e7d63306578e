/**
 * Retrieval for agents: as a handler that searches for what the user says and tells
 * the model what was found, or as a tool with which the model searches by itself.
 *
 * What can be said of a run, it takes from whoever says it most closely: request
 * (`within`) over step (`call`) over agent over defaults.
 *
 * @example
 * ```ts
 * import { Agent, ChatModel, Instructions } from "@heddle/core"
 * import { DocumentIndex, LexicalIndex, Rag } from "@heddle/rag"
 * import { Effect, Layer } from "effect"
 *
 * const agent = Agent.make({
 *   name: "helper",
 *   instructions: "You help visitors.",
 *   handlers: Rag.handler({ settings: { topK: 3 } })
 * })
 * const model = ChatModel.layer(({ instructions }) =>
 *   ChatModel.reply(Instructions.render(instructions).includes("We open at nine.") ? "At nine. [1]" : "I do not know.")
 * )
 *
 * const program = Effect.gen(function* () {
 *   const index = yield* DocumentIndex.DocumentIndex
 *   yield* index.put(DocumentIndex.collection("notes"), [
 *     {
 *       source: "hours.md",
 *       hash: "1",
 *       chunks: [{ id: "hours-1", text: "We open at nine.", context: "Opening hours", metadata: {} }]
 *     }
 *   ])
 *   const result = yield* Agent.run(agent, "When do you open?")
 *   console.log(result.text, Rag.citations(result).map(({ source }) => source)) // At nine. [1] [ 'hours.md' ]
 * })
 * await Effect.runPromise(program.pipe(Effect.provide(Layer.merge(LexicalIndex.layer, model))))
 * ```
 */
import { AgentEvent, type AgentRun, Call, type ChatModel, Handler, Instructions, Message } from "@heddle/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type CallOptions, Requests } from "./internal/callOptions.ts"
import { marked, taken, taking } from "./internal/citations.ts"
import { look } from "./internal/look.ts"
import { planning } from "./internal/plan.ts"
import { section as ours } from "./internal/section.ts"
import { InvalidRag, type RetrievalError } from "./RagErrors.ts"
import * as RagSection from "./RagSection.ts"
import type { Retriever } from "./Retriever.ts"

export { call, type CallOptions, within, withinStream } from "./internal/callOptions.ts"
export { type Citation, citations, type Shown, shown } from "./internal/citations.ts"
export { tool, type ToolOptions } from "./internal/searchTool.ts"

/** What an agent says of its retrieval. */
export interface Options extends CallOptions {
  /** What is searched for; what the user says unless said. Where it is empty, nothing is searched. */
  readonly query?: (run: AgentRun.RunConfig) => string
  /** The section that tells the model what was found: another text, or none where that is `""`. */
  readonly section?: (found: RagSection.Found) => string
  /** The name of the handler. @default "rag" */
  readonly name?: string
}

/**
 * The handler. It searches once a run, for the tenant at the moment. Put it behind
 * handlers that change what the user has said, and before those that count or cut
 * the instructions. Of several in one agent, each inner one numbers its passages on
 * from those that the outer ones show.
 *
 * Throws an `InvalidRag` where the agent's own settings make no sense; where those of
 * a call or of a request do, the run fails with one. If the search fails, the run
 * goes on with a warning, or fails, by the settings; a failure of the model that
 * takes notes is a warning in any case. That is for failures, as their types say them:
 * a retriever or a model that dies of a defect ends the run, as a defect does anywhere,
 * and so does a `section` or a `query` that throws.
 */
export const handler = (
  options: Options = {}
): Handler.Handler<never, RetrievalError | InvalidRag, Retriever | ChatModel.ChatModel> => {
  const { name = "rag", query = saying, section } = options
  const planFor = planning(options)
  return Handler.make(name, {
    wrapAgent: (run, next) =>
      Call.unwrap(
        Effect.flatMap(Effect.context<Retriever | ChatModel.ChatModel>(), (services): Searching => {
          const plan = planFor(Context.get(services, Requests), run.options.metadata)
          if (plan instanceof InvalidRag) return plan
          const { mode, topK } = plan.settings
          const question = mode === "none" || topK === 0 ? "" : query(run).trim()
          if (question === "") return Effect.succeed(next(run))
          return Effect.map(
            look(services, plan, { question, taken: taken(run) }),
            ({ found, texts, usage, warnings }) => {
              const text = section === undefined ? ours(found, texts) : section(found)
              const instructions =
                text === "" ? run.instructions : Instructions.append(run.instructions, text, RagSection.source)
              const ran = AgentEvent.mapResult(next(taking({ ...run, instructions }, found)), (result) =>
                marked(result, found, usage)
              )
              return warnings.length === 0
                ? ran
                : AgentEvent.warnAfter(ran, () => Effect.succeed(warnings.map((error) => ({ handler: name, error }))))
            }
          )
        })
      )
  })
}

type Searching = Effect.Effect<AgentRun.AgentCall<AgentRun.AgentResult, Handler.Upstream>, RetrievalError | InvalidRag>

const saying = ({ input }: AgentRun.RunConfig): string => Message.text(input)
