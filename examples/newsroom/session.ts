/**
 * Assignments for one newsroom in one session: each run, its article, and at the end
 * what the last run was shown of those before it.
 */
import { messageOf } from "@heddle/example-quickstart/runMain.ts"
import { Call, ChatModel, Instructions } from "@heddle/core"
import type { Library } from "@heddle/example-quickstart/Library.ts"
import { clean, paint, short } from "@heddle/example-quickstart/terminal.ts"
import { HistoryStore, Workflow } from "@heddle/workflow"
import { Effect, Exit } from "effect"
import { newsroom } from "./newsroom.ts"
import { type Screen, watch } from "./progress.ts"

/** What the agent called `name` was told in the last of some requests to it. */
const toldTo = (name: string, requests: ReadonlyArray<ChatModel.ModelRequest>): string | undefined => {
  const request = requests.findLast(({ instructions }) => instructions.sections.some(({ source }) => source === name))
  return request && Instructions.render(request.instructions)
}

/** Lets the calls of a model take time, and keeps what it was asked. */
const watched = (
  model: ChatModel.Service,
  requests: Array<ChatModel.ModelRequest>,
  delay: number
): ChatModel.Service => ({
  call: (request) => {
    requests.push(request)
    return Call.around(model.call(request), (running) => Effect.delay(running, delay))
  }
})

/** Runs the assignments one after the other, and says how many came to nothing. */
export const session = (library: Library, assignments: ReadonlyArray<string>, screen: Screen) =>
  Effect.gen(function* () {
    const workflow = newsroom(library)
    const title = (text: string) => screen.write(`\n${paint(screen, "bold", text)}\n`)
    const model = yield* ChatModel.ChatModel
    let told: string | undefined
    let failures = 0

    for (const [i, assignment] of assignments.entries()) {
      title(`Run ${i + 1}: ${short(assignment, screen.columns - 10) || "(no topic)"}`)
      const requests: Array<ChatModel.ModelRequest> = []
      // The offline model answers at once, which leaves nothing to look at.
      const slow = watched(model, requests, screen.rows === undefined ? 0 : 300)
      const exit = yield* Workflow.stream(workflow, assignment, { sessionId: "newsroom" }).pipe(
        watch(screen),
        Effect.provideService(ChatModel.ChatModel, slow),
        Effect.exit
      )
      told = toldTo("writer", requests)
      if (Exit.isSuccess(exit)) {
        screen.write(`\n${clean(exit.value.output)}\n`)
      } else {
        failures++
        screen.write(`\n  No article: ${short(messageOf(exit.cause), 300)}\n`)
      }
    }

    title("What the writer was told in the last run")
    screen.write(`${clean(told ?? "Nothing: it was not asked.")}\n`)
    title("The workflow, as Mermaid draws it")
    screen.write(`${Workflow.toMermaid(workflow)}\n`)
    return failures
  }).pipe(Effect.provide(HistoryStore.layerMemory()))
