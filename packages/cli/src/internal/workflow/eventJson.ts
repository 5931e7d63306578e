/** The events of a workflow, as JSON has them. */
import { AgentEvent } from "@heddle/core"
import { plainError } from "@heddle/core/cause"
import { RunRecord, type WorkflowEvent } from "@heddle/workflow"

/** An event as JSON. A failure is told by its tag and message. */
export const eventJson = (event: WorkflowEvent.WorkflowEvent): unknown => {
  if (event._tag === "Agent") return RunRecord.toPlain({ ...event, event: AgentEvent.toJson(event.event) })
  const { cause: _, ...told } = { cause: undefined, ...event }
  if ("error" in told) return RunRecord.toPlain({ ...told, error: plainError(told.error) })
  if (told._tag !== "Completed") return RunRecord.toPlain(told)
  const { unsaved, withoutHistory, ...result } = told.result
  return RunRecord.toPlain({
    ...told,
    result: {
      ...result,
      ...(unsaved !== undefined && { unsaved: plainError(unsaved) }),
      ...(withoutHistory !== undefined && { withoutHistory: plainError(withoutHistory) })
    }
  })
}
