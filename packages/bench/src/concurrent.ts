/**
 * Case E: 10,000 runs of one shared agent at once, each with instructions of
 * its own and 10 messages of history. All are held inside the model call until
 * the last has come there; then all are let go. The model answers with the
 * instructions it was given, and each run must hear its own.
 */
import { Agent, Call, ChatModel, type History, Instructions } from "@heddle/core"
import { Deferred, Effect } from "effect"
import * as BareEffect from "./bareEffect.ts"
import * as BareJavaScript from "./bareJavaScript.ts"
import * as Heddle from "./heddle.ts"
import { assert, heapUsed, type Result, type Subject, summary } from "./measure.ts"
import { answerReply, instructions, nothingSeen, type Outcome, question } from "./work.ts"

const runs = 10_000
const rounds = 7
const weighings = 3

const own = (i: number) => `You serve customer ${i}.`
const told = (i: number) => `${instructions}\n\n${own(i)}`

const say = (text: string): ChatModel.ModelReply => ({ ...answerReply, content: [{ _tag: "Text", text }] })

/** Runs that wait in the model call. */
interface Held {
  readonly waiting: () => number
  readonly letGo: () => void
  readonly start: (i: number, history: History.History) => Promise<Outcome>
}

const subjects: Readonly<Record<Subject, () => Held>> = {
  heddle: () => {
    let waiting = 0
    const latch = Effect.runSync(Deferred.make<void>())
    const agent = Heddle.agent(nothingSeen(), 0)
    const run = Heddle.runner({
      call: (request) => {
        waiting++
        return Call.fromEffect(Effect.map(Deferred.await(latch), () => say(Instructions.render(request.instructions))))
      }
    })
    return {
      waiting: () => waiting,
      letGo: () => Deferred.unsafeDone(latch, Effect.void),
      start: (i, history) =>
        run(Agent.run(agent, question, { history }).pipe(Instructions.scoped(Instructions.append(own(i)))))
    }
  },
  effect: () => {
    let waiting = 0
    const latch = Effect.runSync(Deferred.make<void>())
    const agent = BareEffect.agent(nothingSeen(), 0)
    const run = BareEffect.runner({
      call: (request) => {
        waiting++
        return Effect.map(Deferred.await(latch), () => say(request.instructions))
      }
    })
    return {
      waiting: () => waiting,
      letGo: () => Deferred.unsafeDone(latch, Effect.void),
      start: (i, history) =>
        run(BareEffect.run(agent, question, { history, instructions: `${agent.instructions}\n\n${own(i)}` }))
    }
  },
  javascript: () => {
    let waiting = 0
    let letGo = () => {}
    const latch = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const agent = BareJavaScript.agent(nothingSeen(), 0)
    const model: BareJavaScript.Model = async (request) => {
      waiting++
      await latch
      return say(request.instructions)
    }
    return {
      waiting: () => waiting,
      letGo: () => letGo(),
      start: (i, history) =>
        BareJavaScript.run(agent, model, question, { history, instructions: `${agent.instructions}\n\n${own(i)}` })
    }
  }
}

const histories = Array.from({ length: runs }, (_, run): History.History =>
  Array.from({ length: 10 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: [{ _tag: "Text", text: `Message ${i} of customer ${run}.` }]
  }))
)

/** One round: what it took, what a held run weighed if that is asked for, and how many runs heard another's instructions. */
const round = async (subject: Subject, weigh: boolean) => {
  const { letGo, start, waiting } = subjects[subject]()
  const ended: Array<Promise<Outcome>> = []
  const before = weigh ? heapUsed() : 0
  const startedAt = performance.now()
  for (let i = 0; i < runs; i++) ended.push(start(i, histories[i]!))
  while (waiting() < runs) await new Promise((resolve) => setImmediate(resolve))
  const held = weigh ? heapUsed() - before : 0
  letGo()
  const outcomes = await Promise.all(ended)
  const ms = performance.now() - startedAt
  let wrong = 0
  outcomes.forEach(({ history, steps, text }, i) => {
    if (text !== told(i)) wrong++
    assert(steps === 1 && history.length === 12 && history[0] === histories[i]![0], `${subject} runs ${i} to its end`)
  })
  return { ms, kilobytes: held / 1024 / runs, wrong }
}

const names: ReadonlyArray<Subject> = ["heddle", "effect", "javascript"]

export const caseE = async (): Promise<ReadonlyArray<Result>> => {
  const seen = names.map((subject) => ({
    subject,
    ms: new Array<number>(),
    kilobytes: new Array<number>(),
    wrong: new Array<number>()
  }))
  for (let i = -2; i < rounds + weighings; i++) {
    for (let k = 0; k < seen.length; k++) {
      const { kilobytes, ms, subject, wrong } = seen[(i + 2 + k) % seen.length]!
      const weigh = i >= rounds
      const result = await round(subject, weigh)
      wrong.push(result.wrong)
      if (weigh) kilobytes.push(result.kilobytes)
      else if (i >= 0) ms.push(result.ms)
    }
  }
  for (const { subject, wrong } of seen)
    assert(Math.max(...wrong) === 0, `${subject} tells each run its own instructions`)
  return [
    ...seen.map(({ ms, subject }) => ({ case: "E: 10,000 runs at once", subject, unit: "ms", ...summary(ms) })),
    ...seen.map(({ kilobytes, subject }) => ({
      case: "E: heap of a held run",
      subject,
      unit: "KB",
      ...summary(kilobytes)
    })),
    ...seen.map(({ subject, wrong }) => ({ case: "E: wrong instructions", subject, unit: "runs", ...summary(wrong) }))
  ]
}
