/**
 * Cases A to D: whole runs, one after the other, each from its start to its
 * promise. One run of each subject is checked to the last message and hook
 * before it is timed; while it is timed, every result and all hooks are counted.
 */
import { Agent, Handler, Pipeline } from "@heddle/core"
import * as BareEffect from "./bareEffect.ts"
import * as BareJavaScript from "./bareJavaScript.ts"
import * as Heddle from "./heddle.ts"
import { assert, type Competitor, measure, type Result, sample, type Subject, summary } from "./measure.ts"
import { answer, checkRun, nothingSeen, type Outcome, question, type Seen } from "./work.ts"

type Start = () => Promise<Outcome>

const starters: Record<Subject, (seen: Seen, turns: number, handlers: number) => Start> = {
  heddle: (seen, turns, handlers) => {
    const agent = Heddle.agent(seen, handlers)
    const run = Heddle.runner(Heddle.model(seen, turns))
    return () => run(Agent.run(agent, question))
  },
  effect: (seen, turns, handlers) => {
    const agent = BareEffect.agent(seen, handlers)
    const run = BareEffect.runner(BareEffect.model(seen, turns))
    return () => run(BareEffect.run(agent, question))
  },
  javascript: (seen, turns, handlers) => {
    const agent = BareJavaScript.agent(seen, handlers)
    const model = BareJavaScript.model(seen, turns)
    return () => BareJavaScript.run(agent, model, question)
  }
}

const competitor = async (
  name: string,
  subject: Subject,
  turns: number,
  handlers: number,
  size = 1,
  starter = starters[subject]
): Promise<Competitor> => {
  const seen = nothingSeen()
  const start = starter(seen, turns, handlers)
  checkRun(`${subject} in ${name}`, await start(), seen, turns, handlers)
  return {
    case: name,
    subject,
    unit: "µs",
    size,
    run: async (times) => {
      const before = seen.wrapToolCall + seen.leftModelCall
      for (let i = 0; i < times; i++) {
        const { steps, text } = await start()
        if (text !== answer || steps !== turns + 1) throw new Error(`${subject} in ${name} went wrong`)
      }
      const calls = seen.wrapToolCall + seen.leftModelCall - before
      assert(calls === times * handlers * (2 * turns + 1), `${subject} in ${name} calls all hooks`)
    }
  }
}

const subjects: ReadonlyArray<Subject> = ["heddle", "effect", "javascript"]

const all = (name: string, turns: number, handlers: number, size?: number) =>
  Promise.all(subjects.map((subject) => competitor(name, subject, turns, handlers, size)))

/** An agent whose handlers have none of the hooks. */
const idle = (seen: Seen, turns: number): Start => {
  const run = Heddle.runner(Heddle.model(seen, turns))
  const handlers = Pipeline.make(...Array.from({ length: 50 }, (_, i) => Handler.make(`idle-${i}`, {})))
  const agent = Agent.make({ name: "calculator", instructions: "You calculate. Use the tool.", handlers })
  return () => run(Agent.run(agent, question))
}

export const caseA = async () =>
  measure([
    ...(await all("A: one model call", 0, 0)),
    await competitor("A: the same, 50 handlers without a hook", "heddle", 0, 0, 1, idle)
  ])

export const caseB = async () => measure(await all("B: one tool call, 10 handlers", 1, 10))

export const caseC = async () => measure(await all("C: one tool call, 50 handlers", 1, 50))

/** A turn at 100 and at 400 turns, and how the two compare within each round. */
export const caseD = async (): Promise<ReadonlyArray<Result>> => {
  const competitors = [...(await all("D: a turn of 100", 100, 0, 100)), ...(await all("D: a turn of 400", 400, 0, 400))]
  const samples = await sample(competitors)
  return [
    ...competitors.map(({ case: name, subject, unit }, i) => ({ case: name, subject, unit, ...summary(samples[i]!) })),
    ...subjects.map((subject, i) => ({
      case: "D: a turn of 400 against one of 100",
      subject,
      unit: "times",
      ...summary(samples[i + subjects.length]!.map((long, round) => long / samples[i]![round]!))
    }))
  ]
}
