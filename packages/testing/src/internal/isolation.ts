/**
 * Laws 6 to 9 and 16: what attempts and runs do not see of each other.
 */
import { Call, ChatModel, Handler, Instructions, Tool } from "@heddle/core"
import * as Effect from "effect/Effect"
import { calm, choose, law, type Law, same, violated } from "./trial.ts"
import type { Outcome } from "./outcome.ts"
import type { World } from "./world.ts"

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
      // What a handler asks the model on its own account passes no other handler.
      if (request.purpose !== "agent") continue
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
    const all = await trial.together(worlds.map((world) => [world]))
    worlds.forEach((_, i) => same(`run ${i + 1}`, one[i]!, all[i]!))
  }
)

const told = (request: ChatModel.ModelRequest | undefined, text: string) =>
  request !== undefined && Instructions.render(request.instructions).includes(text)

/**
 * 16. Scoped instructions are seen by their run and by no other. A handler may
 * replace, cut or rewrite what the agent is told, and scoped instructions with
 * it; but where the model is shown a text that is the agent's own, it is shown
 * the same text when that is scoped.
 */
export const scope: Law = law(16, "scope: scoped instructions are seen by their run alone", async (trial, world) => {
  const names = ["<<ada>>", "<<grace>>", undefined]
  const mode = choose(world, ["run", "stream"] as const)
  const all = await trial.together(names.map((scoped) => [world, scoped === undefined ? {} : { scoped, mode }]))
  for (const [i, { requests }] of all.entries()) {
    const mine = names[i]
    for (const name of names) {
      if (name !== undefined && name !== mine && requests.some((request) => told(request, name)))
        violated(`the run of ${mine ?? "nobody"} saw ${name}`)
    }
    if (mine === undefined || requests.every((request) => told(request, mine))) continue
    const own = await trial.run(world, { own: mine, mode })
    requests.forEach((request, n) => {
      if (!told(request, mine) && told(own.requests[n], mine))
        violated(`the run of ${mine} did not see it in request ${n + 1}: ${Instructions.render(request.instructions)}`)
    })
  }
})
