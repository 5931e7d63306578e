/**
 * The laws that handlers and pipelines keep, as values. Each can be checked for
 * any handler: it is tried in random worlds, and a violation is shrunk to a
 * small one.
 *
 * In a vitest suite, `Laws.handler` of `@heddle/testing/vitest` makes tests of
 * them.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { Law } from "@heddle/testing"
 *
 * await Law.check(Law.isolationOfRuns, Handler.instructions("Be brief."))
 * ```
 */
import { Call, ChatModel, Handler, History, Instructions, Message, Pipeline, Tool } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import {
  arbitrary,
  type Circumstances,
  identity,
  interruption,
  type Log,
  type Outcome,
  type Point,
  probe,
  run,
  type World
} from "./internal/world.ts"

/** A law. `number` is its number in the documentation. */
export interface Law {
  readonly number: number
  readonly name: string
  /** Rejects with a `Violation` if the law does not hold for a subject in a world. */
  readonly holds: (subject: Subject, world: World) => Promise<void>
}

/** The circumstances of a trial: generated, and opaque. */
export type { World } from "./internal/world.ts"

/** What a law is tried on. */
export interface Subject {
  readonly handler: Handler.Any
  /** How handlers are put together: `Pipeline.make`, unless it is put to the test itself. */
  readonly compose: (...handlers: ReadonlyArray<Handler.Any>) => Handler.Any
  /** What the handler needs. */
  readonly layer: Layer.Layer<unknown, unknown>
}

/** A law does not hold. */
export class Violation extends Error {
  override readonly name = "Violation"
}

const violated = (message: string): never => {
  throw new Violation(message)
}

const law = (number: number, name: string, body: (trial: Trial, world: World) => Promise<void>): Law => ({
  number,
  name,
  holds: (subject, world) => body(new Trial(subject), world)
})

/** Runs the subject, and compares. */
class Trial {
  readonly subject: Subject
  constructor(subject: Subject) {
    this.subject = subject
  }
  run(world: World, how?: Partial<Circumstances>, handler: Handler.Any = this.subject.handler): Promise<Outcome> {
    return run(handler, world, { layer: this.subject.layer, ...how })
  }
  around(before: ReadonlyArray<Handler.Any>, after: ReadonlyArray<Handler.Any>): Handler.Any {
    return this.subject.compose(...before, this.subject.handler, ...after)
  }
}

const same = (what: string, one: Outcome, other: Outcome) => {
  if (one.summary !== other.summary) violated(`${what}:\n${one.summary}\n-- and --\n${other.summary}`)
}

const calm = (world: World): World => ({ ...world, turns: world.turns.map((turn) => ({ ...turn, fails: false })) })

const choose = <A>(world: World, among: ReadonlyArray<A>, salt = 1): A =>
  among[Math.floor(world.pick / salt) % among.length]!

// -----------------------------------------------------------------------------
// composition
// -----------------------------------------------------------------------------

/** 1. A handler that only forwards changes nothing: value, error identity, parts, state. */
export const identityLaw: Law = law(
  1,
  "identity: a handler that only forwards changes nothing",
  async (trial, world) => {
    const mode = choose(world, ["run", "stream"] as const)
    const alone = await trial.run(world, { mode })
    same("before it", alone, await trial.run(world, { mode }, trial.around([identity("id")], [])))
    same("after it", alone, await trial.run(world, { mode }, trial.around([], [identity("id")])))
  }
)

/** 2. Grouping handlers in sub-pipelines changes nothing, and `empty` is the unit. */
export const associativity: Law = law(2, "associativity: grouping changes nothing", async (trial, world) => {
  const { compose, handler } = trial.subject
  const a = Handler.wrapModelCall(
    (request, next) => next({ ...request, instructions: Instructions.append(request.instructions, "A") }),
    "a"
  )
  const b = Handler.wrapModelCall(
    (request, next) => next({ ...request, instructions: Instructions.append(request.instructions, "B") }),
    "b"
  )
  const flat = await trial.run(world, {}, compose(a, handler, b))
  same("to the left", flat, await trial.run(world, {}, compose(compose(a, handler), b)))
  same("to the right", flat, await trial.run(world, {}, compose(a, compose(handler, b))))
  same(
    "with empty",
    flat,
    await trial.run(world, {}, compose(Pipeline.empty, a, compose(Pipeline.empty, handler), b, Pipeline.empty))
  )
})

const probes = (trial: Trial) => (_: Handler.Any, point: Point) =>
  trial.around([probe("a", point)], [probe("b", point)])

/** 3. Before- and after-hooks run in pipeline order; wraps nest, the first outermost. */
export const order: Law = law(3, "order: hooks run in pipeline order, wraps nest", async (trial, world) => {
  const { log } = await trial.run(world, { around: probes(trial) })
  for (const hook of ["beforeModel", "afterModel"]) {
    const seen = log.filter((entry) => entry.endsWith(`.${hook}`))
    seen.forEach((entry, i) => {
      if (entry === `b.${hook}` && seen[i - 1] !== `a.${hook}`)
        violated(`b.${hook} ran without a.${hook} before it: ${seen.join(" ")}`)
    })
  }
  for (const hook of ["wrapAgent", "wrapModelCall", "wrapToolCall"]) {
    let open = { a: 0, b: 0 }
    for (const entry of log) {
      if (!entry.includes(`.${hook}`)) continue
      const who = entry.startsWith("a.") ? "a" : "b"
      open = { ...open, [who]: open[who] + (entry.endsWith(">") ? 1 : -1) }
      if (open.b > 0 && open.a === 0) violated(`b.${hook} was open outside of a.${hook}: ${log.join(" ")}`)
    }
  }
})

// -----------------------------------------------------------------------------
// ways out
// -----------------------------------------------------------------------------

const balanced = (log: Log) => {
  const stack: Array<string> = []
  const open = new Map<string, number>()
  for (const entry of log) {
    const name = entry.slice(0, -1)
    if (entry.endsWith(">") && entry.includes(".wrap")) open.set(name, (open.get(name) ?? 0) + 1)
    else if (entry.endsWith("<")) {
      const n = open.get(name) ?? 0
      if (n === 0) violated(`${name} was left without having been entered: ${log.join(" ")}`)
      open.set(name, n - 1)
    } else if (entry.endsWith(".acquire")) stack.push(entry.slice(0, -".acquire".length))
    else if (entry.endsWith(".release")) {
      const last = stack.pop()
      if (last !== entry.slice(0, -".release".length))
        violated(`released ${entry} where ${last} was due: ${log.join(" ")}`)
    }
  }
  for (const [name, n] of open) if (n !== 0) violated(`${name} was entered and not left: ${log.join(" ")}`)
  if (stack.length > 0) violated(`${stack.join(", ")} acquired and not released: ${log.join(" ")}`)
}

/** 4. What was entered once is left once, in reverse, however the run ends. */
export const finalizer: Law = law(4, "finalizer: what was entered is left once, in reverse", async (trial, world) => {
  const around = probes(trial)
  const undisturbed = await trial.run(world, { around })
  balanced(undisturbed.log)
  const interruptAt = world.pick % Math.max(1, undisturbed.log.length)
  const { exit, log } = await trial.run(world, { around, interruptAt })
  balanced(log)
  if (Exit.isFailure(exit) && log.filter((entry) => entry === "a.wrapAgent<").length !== 1)
    violated("the outermost handler was not left")
})

const finishers: ReadonlyArray<(point: Point) => Handler.Any> = [
  (point) => Handler.beforeAgent(() => Effect.zipRight(point("finish>"), Handler.finish("finished"))),
  (point) => Handler.beforeModel(() => Effect.zipRight(point("finish>"), Handler.finish("finished"))),
  (point) => Handler.afterModel(() => Effect.zipRight(point("finish>"), Handler.finish("finished"))),
  (point) => Handler.wrapAgent(() => Call.fromEffect(Effect.zipRight(point("finish>"), Handler.finish("finished")))),
  (point) =>
    Handler.wrapModelCall(() => Call.fromEffect(Effect.zipRight(point("finish>"), Handler.finish("finished")))),
  (point) => Handler.wrapToolCall(() => Call.fromEffect(Effect.zipRight(point("finish>"), Handler.finish("finished"))))
]

/** 5. A finish from any hook of any handler ends the run with that answer and leaves every handler that was entered. */
export const position: Law = law(5, "position: a finish from any hook ends the run", async (trial, world) => {
  const finisher = choose(world, finishers)
  const first = choose(world, [true, false], finishers.length)
  const { exit, log } = await trial.run(calm(world), {
    around: (_, point) => {
      const before = [probe("a", point), ...(first ? [finisher(point)] : [])]
      const after = [...(first ? [] : [finisher(point)]), probe("b", point)]
      return trial.around(before, after)
    }
  })
  balanced(log)
  const at = log.indexOf("finish>")
  if (at < 0) return
  if (!(Exit.isSuccess(exit) && exit.value.end === "finish")) {
    // Tools that run beside the one that finishes may have failed the run before.
    if (Exit.isFailure(exit) && log.slice(0, at).some((entry) => entry.startsWith("tool>"))) return
    violated(`the run went on after a finish: ${log.slice(at).join(" ")}`)
  }
  const started = log.slice(at).filter((entry) => entry === "model>")
  if (started.length > 0) violated(`the model was called after a finish: ${log.slice(at).join(" ")}`)
})

// -----------------------------------------------------------------------------
// attempts and runs
// -----------------------------------------------------------------------------

const marked = (request: ChatModel.ModelRequest, mark: string): ChatModel.ModelRequest => ({
  ...request,
  instructions: Instructions.append(request.instructions, mark, "mark")
})

const requestsOf = (outcome: Outcome, mark: string) =>
  outcome.requests
    .filter((request) => request.instructions.sections.some((section) => section.text === mark))
    .map((request) => `${Instructions.render(request.instructions)}\n${JSON.stringify(request.history)}`)

const single = Handler.wrapModelCall((request, next) => next(marked(request, "<first>")), "single")

const twice = (how: "one by one" | "at once", first: "first" | "second") =>
  Handler.wrapModelCall(
    (request, next) =>
      Call.fromEffect(
        Effect.map(
          Effect.all(
            [ChatModel.run(next(marked(request, "<first>"))), ChatModel.run(next(marked(request, "<second>")))],
            {
              concurrency: how === "at once" ? 2 : 1
            }
          ),
          ([one, two]) => (first === "first" ? one : two)
        )
      ),
    "twice"
  )

/** 6. Two calls of `next`, also at once, do not see each other's request. */
export const isolationOfAttempts: Law = law(
  6,
  "isolation of attempts: two calls of next do not see each other",
  async (trial, world) => {
    const how = choose(world, ["one by one", "at once"] as const)
    const one = await trial.run(calm(world), {}, trial.around([single], []))
    const two = await trial.run(calm(world), {}, trial.around([twice(how, "first")], []))
    const alone = requestsOf(one, "<first>")
    const beside = requestsOf(two, "<first>")
    if (alone.join("\n") !== beside.join("\n"))
      violated(`alone:\n${alone.join("\n")}\n-- beside another (${how}) --\n${beside.join("\n")}`)
    for (const request of two.requests) {
      const marks = request.instructions.sections.filter((section) => section.source === "mark").length
      if (marks !== 1) violated(`a request carries ${marks} marks: ${Instructions.render(request.instructions)}`)
    }
  }
)

/** 7. An attempt whose result is dropped leaves no state. */
export const discard: Law = law(7, "discard: a dropped attempt leaves no state", async (trial, world) => {
  const drop = Handler.wrapModelCall(
    (request, next) => Call.unwrap(Effect.as(Effect.exit(ChatModel.run(next(request))), next(request))),
    "drop"
  )
  const dropTool = Handler.wrapToolCall(
    (request, next) => Call.unwrap(Effect.as(Effect.exit(Tool.run(next(request))), next(request))),
    "dropTool"
  )
  const once = await trial.run(calm(world))
  const dropped = await trial.run(calm(world), {}, trial.around([drop, dropTool], []))
  const result = (outcome: Outcome) => JSON.stringify(JSON.parse(outcome.summary).exit)
  if (result(once) !== result(dropped))
    violated(`once:\n${result(once)}\n-- after a dropped attempt --\n${result(dropped)}`)
})

const deepFreeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key])
  return value
}

const freezer = Handler.make("freezer", {
  beforeAgent: (run) => deepFreeze(run),
  beforeModel: (history) => deepFreeze(history),
  wrapModelCall: (request, next) => Call.map(next(deepFreeze(request)), (part) => deepFreeze(part)),
  afterModel: (history) => deepFreeze(history),
  wrapToolCall: (request, next) => Call.map(next(deepFreeze(request)), (part) => deepFreeze(part))
})

/** 8. Freezing every input deeply changes no outcome. */
export const noAliasing: Law = law(8, "no aliasing: freezing every input changes no outcome", async (trial, world) => {
  const copy: World = structuredClone(world)
  same("frozen", await trial.run(copy), await trial.run(deepFreeze(world), {}, trial.around([freezer], [freezer])))
})

/** 9. Runs at the same time give what they give one by one. */
export const isolationOfRuns: Law = law(
  9,
  "isolation of runs: runs at once give what single runs give",
  async (trial, world) => {
    const worlds = [world, { ...world, input: "another" }, { ...world, turns: world.turns.toReversed() }]
    const one: Array<Outcome> = []
    for (const world of worlds) one.push(await trial.run(world))
    const all = await Promise.all(worlds.map((world) => trial.run(world)))
    worlds.forEach((_, i) => same(`run ${i + 1}`, one[i]!, all[i]!))
  }
)

// -----------------------------------------------------------------------------
// histories, streams, interruption, scope
// -----------------------------------------------------------------------------

/** 10. No model and no caller ever sees a tool call without an outcome. */
export const pairing: Law = law(10, "pairing: every tool call has an outcome", async (trial, world) => {
  const { exit, requests } = await trial.run(world, { around: (handler) => handler })
  for (const request of requests) {
    if (!History.isPaired(request.history)) violated(`the model saw a pending call: ${JSON.stringify(request.history)}`)
  }
  if (Exit.isSuccess(exit) && !History.isPaired(exit.value.history))
    violated(`the result has a pending call: ${JSON.stringify(exit.value.history)}`)
})

/** 11. The fold of the stream equals the run, however the model's text is cut. */
export const streamParity: Law = law(
  11,
  "stream parity: the fold of the stream equals the run",
  async (trial, world) => {
    const run = await trial.run(world, { mode: "run", cut: "whole" })
    same("run and stream", run, await trial.run(world, { mode: "stream" }))
    same("whole and cut", run, await trial.run(world, { mode: "run" }))
  }
)

/** 12. A call that is made again emits a reset before its new text. */
export const attempts: Law = law(12, "attempts: a repeated call emits a reset first", async (trial, world) => {
  const failing: World = {
    ...world,
    turns: [{ text: "half of a", calls: [], fails: true }, ...world.turns.map((turn) => ({ ...turn, fails: false }))]
  }
  let reply: string | undefined
  let parts = ""
  const seen = Handler.wrapModelCall(
    (request, next) =>
      Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, Handler.Upstream, never>((sink) => {
        parts = ""
        const inner = Call.sink<ChatModel.ModelPart, ChatModel.ModelReply>(sink.fold, "live", (part) => {
          if (Call.isReset(part)) parts = ""
          else if (part._tag === "Text") parts += part.text
          return sink.emit(part)
        })
        return Call.into(next(request), inner)
      }).pipe(
        Call.tapValue((value) => {
          reply = Message.text(Message.assistant(value.content))
          if (reply !== parts)
            violated(
              `the parts since the last reset make ${JSON.stringify(parts)}, the reply is ${JSON.stringify(reply)}`
            )
        })
      ),
    "seen"
  )
  const { exit, requests } = await trial.run(failing, { mode: "stream" }, trial.around([seen], []))
  const turn = failing.turns[0]!
  if (Exit.isFailure(exit) || requests.length < 2 || reply === undefined) return
  const doubled = turn.text + turn.text
  for (const message of exit.value.history) {
    if (message.role === "assistant" && Message.text(message).toLowerCase().includes(doubled)) {
      violated(`a failed attempt's text is in the answer: ${JSON.stringify(Message.text(message))}`)
    }
  }
})

/** 13. No model or tool call starts after the run was interrupted. */
export const quietAfterCancel: Law = law(
  13,
  "quiet after cancel: nothing starts after an interruption",
  async (trial, world) => {
    const around = probes(trial)
    const undisturbed = await trial.run(world, { around })
    const interruptAt = world.pick % Math.max(1, undisturbed.log.length)
    const { log } = await trial.run(world, { around, interruptAt })
    const late = log.slice(log.indexOf(interruption)).filter((entry) => entry === "model>" || entry.startsWith("tool>"))
    if (log.includes(interruption) && late.length > 0) violated(`started after the interruption: ${log.join(" ")}`)
  }
)

/** 16. Scoped instructions are seen by their run and by no other. */
export const scope: Law = law(16, "scope: scoped instructions are seen by their run alone", async (trial, world) => {
  const names = ["<<ada>>", "<<grace>>", undefined]
  const all = await Promise.all(
    names.map((scoped) =>
      trial.run(world, scoped === undefined ? {} : { scoped, mode: choose(world, ["run", "stream"] as const) })
    )
  )
  all.forEach(({ requests }, i) => {
    for (const request of requests) {
      for (const name of names) {
        if (name !== undefined && name !== names[i] && Instructions.render(request.instructions).includes(name)) {
          violated(`the run of ${names[i] ?? "nobody"} saw ${name}`)
        }
      }
    }
  })
})

/** The laws, in the order of their numbers. */
export const laws: ReadonlyArray<Law> = [
  identityLaw,
  associativity,
  order,
  finalizer,
  position,
  isolationOfAttempts,
  discard,
  noAliasing,
  isolationOfRuns,
  pairing,
  streamParity,
  attempts,
  quietAfterCancel,
  scope
]

// -----------------------------------------------------------------------------
// checking
// -----------------------------------------------------------------------------

/** How hard to try. */
export interface Options {
  /** How many worlds; 50 unless said. */
  readonly runs?: number
  /** Repeats the worlds of a failure. */
  readonly seed?: number
  readonly compose?: Subject["compose"]
}

/** A subject, with what is not said left at its default. */
export const subject = (
  handler: Handler.Any,
  layer: Layer.Layer<unknown, unknown> = Layer.empty as unknown as Layer.Layer<unknown, unknown>,
  compose: Subject["compose"] = (...handlers) => Pipeline.make(...handlers)
): Subject => ({ handler, layer, compose })

/** Checks a law for a handler that needs nothing. Rejects with a shrunken counterexample. */
export const check = <P, E, H>(law: Law, handler: Handler.Handler<P, E, never, H>, options?: Options): Promise<void> =>
  checkSubject(law, subject(handler, undefined, options?.compose), options)

/** Checks a law for a handler that needs what a layer provides. The layer is built afresh for each run. */
export const checkWith = <P, E, R, H, LE>(
  law: Law,
  handler: Handler.Handler<P, E, R, H>,
  layer: Layer.Layer<R, LE>,
  options?: Options
): Promise<void> =>
  checkSubject(law, subject(handler, layer as unknown as Layer.Layer<unknown, unknown>, options?.compose), options)

/** Checks a law for a subject. */
export const checkSubject = (law: Law, subject: Subject, options?: Options): Promise<void> =>
  assert(
    law,
    FastCheck.asyncProperty(arbitrary, (world) => law.holds(subject, world)),
    options
  )

/** Checks a law for generated handlers, one in each world. */
export const checkAll = (law: Law, handlers: FastCheck.Arbitrary<Handler.Any>, options?: Options): Promise<void> =>
  assert(
    law,
    FastCheck.asyncProperty(handlers, arbitrary, (handler, world) =>
      law.holds(subject(handler, undefined, options?.compose), world)
    ),
    options
  )

const assert = <A>(law: Law, property: FastCheck.IAsyncProperty<A>, options: Options | undefined): Promise<void> =>
  FastCheck.assert(property, {
    numRuns: options?.runs ?? 50,
    ...(options?.seed !== undefined && { seed: options.seed })
  }).catch((error: unknown) => {
    throw new Violation(`Law ${law.number}, ${law.name}\n${error instanceof Error ? error.message : String(error)}`)
  })
