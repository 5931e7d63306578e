import { ChatModel, Instructions } from "@heddle/core"
import { HistoryStore, type RunRecord, WorkflowErrors } from "@heddle/workflow"
import { Effect, Layer } from "effect"

/** A store of one array, which tells what was asked of it, and fails when it is told to. */
export const watchedStore = (given: ReadonlyArray<RunRecord.RunRecord> = []) => {
  const records = [...given]
  const asked: Array<string> = []
  const broken = new Set<string>()
  const access = <A>(operation: "append" | "last", what: string, f: () => A) =>
    Effect.suspend(() => {
      asked.push(`${operation} ${what}`)
      return broken.has(operation)
        ? Effect.fail(new WorkflowErrors.HistoryUnavailable({ operation, cause: "broken" }))
        : Effect.sync(f)
    })
  const service: HistoryStore.Service = {
    append: (record) => access("append", record.runId, () => void records.push(record)),
    last: (sessionId, count, statuses) =>
      access("last", `${sessionId} ${count} ${statuses.join()}`, () => {
        const all = records.filter((r) => r.sessionId === sessionId && statuses.includes(r.status))
        return count === 0 ? [] : all.slice(-count)
      }),
    remove: () => Effect.die("not asked for"),
    sessions: () => Effect.die("not asked for")
  }
  return { records, asked, broken, service, layer: Layer.succeed(HistoryStore.HistoryStore, service) }
}

/** A record of a run that went well. */
export const record = (runId: string, fields: Partial<RunRecord.RunRecord> = {}): RunRecord.RunRecord => ({
  runId,
  sessionId: "s",
  workflow: "w",
  status: "completed",
  input: `input of ${runId}`,
  output: `output of ${runId}`,
  startedAt: 0,
  endedAt: 0,
  steps: [],
  ...fields
})

/** A model that answers with the section of its instructions that tells of earlier runs, or with `""`. */
export const tellsHistory = ChatModel.layer(({ instructions }) => {
  const section = instructions.sections.find(({ source }) => source === "workflow-history")
  return ChatModel.reply(section?.text ?? `none: ${Instructions.render(instructions)}`)
})
