/**
 * How a run of a workflow begins and ends: its session, its history, its record.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { HistoryStore, type Service } from "../HistoryStore.ts"
import { toPlain } from "../RunRecord.ts"
import type { RunOptions } from "../Workflow.ts"
import { HistoryUnavailable, InvalidSession } from "../WorkflowErrors.ts"
import type { WorkflowEvent, WorkflowResult } from "../WorkflowEvent.ts"
import { byDefault, CurrentHistory, type Effective, resolve, Shown, shows, statusesKey } from "./history.ts"
import { type NodeImpl, type Runner, type Running, seeing } from "./node.ts"
import { ended, Place, Run, stepRecords, type Steps, type WorkflowSink } from "./run.ts"

/** A workflow without its types. */
export interface WorkflowImpl extends NodeImpl {
  readonly name: string
  readonly maxNodes: number
  readonly onHistoryUnavailable: "fail" | "continue"
  readonly plan: Plan
}

/** A workflow, ready to be run. */
interface Plan {
  readonly runner: Runner
  /** What is to be read of the session: so many runs that ended so. */
  readonly reads: ReadonlyArray<{ readonly statuses: Effective["statuses"]; readonly count: number }>
  readonly history: Effective
}

/** Compiles a workflow as one that is run by itself. */
export const plan = (workflow: NodeImpl): Plan => {
  const wanted: Array<Effective> = []
  const history = resolve(byDefault, workflow.policy)
  const runner = workflow.compile({ name: workflow.name ?? "", history, wanted })
  const reads = new Map<string, { readonly statuses: Effective["statuses"]; readonly count: number }>()
  for (const { runs, statuses } of wanted) {
    const key = statusesKey(statuses)
    reads.set(key, { statuses, count: Math.max(runs, reads.get(key)?.count ?? 0) })
  }
  return { runner, reads: [...reads.values()], history }
}

/** Runs a workflow to its result, which goes into the sink. */
export const start = (
  workflow: WorkflowImpl,
  input: unknown,
  { runId = globalThis.crypto.randomUUID(), sessionId }: RunOptions = {},
  sink: WorkflowSink
): Effect.Effect<void, unknown, unknown> =>
  Effect.contextWithEffect((context: Context.Context<HistoryStore>) => {
    const run = new Run(workflow.name, workflow.maxNodes, sink)
    const refused = refusal(workflow, runId, sessionId)
    const root = (steps: Steps | undefined): Running => {
      const { history, runner } = workflow.plan
      const isShown = shows(history) || Context.get(context, CurrentHistory) !== Shown.nothing
      const running = (isShown ? seeing(runner, history) : runner)(input, new Place(run, steps))
      return Effect.catchAllCause(running, (cause) =>
        run.stopped !== undefined && !Cause.isInterruptedOnly(cause) ? run.stopped : Effect.failCause(cause)
      )
    }
    const result = (): Effect.Effect<WorkflowResult, unknown, unknown> =>
      refused ??
      (sessionId === undefined
        ? Effect.map(root(undefined), (output) => ({ output, runId }))
        : inSession({
            workflow,
            run,
            root,
            input,
            ids: { runId, sessionId },
            store: Context.get(context, HistoryStore)
          }))
    const running = () => Effect.flatMap(result(), (result) => sink.whole(result) ?? Effect.void)
    if (!run.live) return running()
    const session = sessionId === undefined ? {} : { sessionId }
    return run.tell({ _tag: "RunStarted", workflow: workflow.name, runId, ...session }).pipe(
      Effect.flatMap(running),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : run.tell(lastEvent(exit.cause))))
    )
  })

const refusal = (
  { name: workflow, plan }: WorkflowImpl,
  runId: string,
  sessionId: string | undefined
): InvalidSession | undefined => {
  for (const [what, id] of [
    ["session", sessionId],
    ["run", runId]
  ] as const) {
    if (id === "") return new InvalidSession({ workflow, message: `The ${what} id is empty.` })
    if (id !== undefined && typeof id !== "string") {
      return new InvalidSession({ workflow, message: `The ${what} id is no text, but ${String(id)}.` })
    }
  }
  if (sessionId !== undefined || plan.reads.length === 0) return undefined
  return new InvalidSession({
    workflow,
    message: `Workflow "${workflow}" shows earlier runs to its nodes, so a run of it needs a sessionId.`
  })
}

const lastEvent = (cause: Cause.Cause<unknown>): WorkflowEvent =>
  Cause.isInterruptedOnly(cause) ? { _tag: "Cancelled" } : { _tag: "Failed", error: Cause.squash(cause), cause }

/** What a run in a session is made of. */
interface Session {
  readonly workflow: WorkflowImpl
  readonly run: Run
  readonly root: (steps: Steps) => Running
  readonly input: unknown
  readonly ids: { readonly runId: string; readonly sessionId: string }
  readonly store: Service
}

/** Reads what the session has before the run, and adds the run to it afterwards. */
const inSession = (session: Session): Effect.Effect<WorkflowResult, unknown, unknown> =>
  Effect.uninterruptibleMask((restore) => recorded(session, restore))

const recorded = Effect.fnUntraced(function* (
  { ids, input, root, run, store, workflow }: Session,
  restore: (running: Running) => Running
) {
  const { name, onHistoryUnavailable, plan } = workflow
  const steps: Steps = []
  // Before anybody gets at it.
  const plain = toPlain(input)
  const begun = {
    ...ids,
    workflow: name,
    ...(plain !== undefined && { input: plain }),
    startedAt: yield* Clock.currentTimeMillis
  }
  let withoutHistory: HistoryUnavailable | undefined
  const read = Effect.catchAll(readEarlier(store, ids.sessionId, plan, run), (error) => {
    if (onHistoryUnavailable === "fail") return Effect.fail(error)
    withoutHistory = error
    return warn(run, error)
  })
  const exit = yield* Effect.exit(restore(Effect.flatMap(read, () => root(steps))))
  const record = {
    ...begun,
    ...ended(exit),
    endedAt: yield* Clock.currentTimeMillis,
    steps: stepRecords(steps)
  }
  const unsaved = yield* Effect.match(
    typedly("append", ids.sessionId, () => store.append(record)),
    { onSuccess: () => undefined, onFailure: (error) => error }
  )
  if (unsaved !== undefined) yield* warn(run, unsaved)
  if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
  return {
    output: exit.value,
    ...ids,
    ...(unsaved && { unsaved }),
    ...(withoutHistory && { withoutHistory })
  }
})

/** For those who do not watch, too: the run may fail, and then this is all that is said. */
const warn = (run: Run, error: HistoryUnavailable) =>
  Effect.zipRight(Effect.logWarning(error.message), run.tell({ _tag: "Warning", error }))

const readEarlier = (store: Service, sessionId: string, { reads }: Plan, run: Run) =>
  Effect.forEach(
    reads,
    ({ count, statuses }) =>
      Effect.map(
        typedly("last", sessionId, () => store.last(sessionId, count, statuses)),
        (records) => run.earlier.set(statusesKey(statuses), records)
      ),
    { discard: true }
  )

/** A store that throws, dies or gives itself up is as unavailable as one that fails: none may cost a finished run its result. */
const typedly = <A>(
  operation: HistoryUnavailable["operation"],
  sessionId: string,
  access: () => Effect.Effect<A, HistoryUnavailable>
): Effect.Effect<A, HistoryUnavailable> =>
  Effect.catchAllCause(Effect.suspend(access), (cause) => {
    const error = Cause.squash(cause)
    return error instanceof HistoryUnavailable ? error : new HistoryUnavailable({ operation, sessionId, cause: error })
  })
