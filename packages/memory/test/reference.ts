/**
 * What agents are to see of a session, and what is to be kept of it, in plain code.
 */
import type { ContextMode, MemorySettings } from "@heddle/memory"

/** A call of an agent, with a question that no other has. */
export interface Call {
  readonly agent: string
  readonly mode: ContextMode.ContextMode
  readonly settings: MemorySettings.MemorySettings
  readonly question: string
  readonly does: "answers" | "calls" | "fails" | "asks"
  /** The call that a tool of this one makes, where it `asks`. */
  readonly inner?: Call
}

/** An exchange: its texts in one line. */
export type Kept = string
export const line = (texts: ReadonlyArray<string>): Kept => texts.join(" | ")

/** What the model is to be shown of the two conversations, from inside of the calls `around`, the outermost first. */
const shown = (
  { mode, settings }: Call,
  around: ReadonlyArray<Call>,
  main: ReadonlyArray<Kept>,
  own: ReadonlyArray<Kept>
): ReadonlyArray<Kept> => {
  const limit = settings.strategy === "full" ? Infinity : (settings.historyLimit ?? 10)
  const window = mode.window !== undefined && "exchanges" in mode.window ? mode.window.exchanges : limit
  const last = (all: ReadonlyArray<Kept>, n: number) => all.slice(Math.max(0, all.length - n))
  switch (mode._tag) {
    case "isolated":
    case "hybrid":
      return last(own, window)
    case "shared":
      return last(main, window)
    case "fork": {
      const going = around.filter(({ mode }) => mode._tag === "shared")
      return [...last(main, window), ...going.map(({ question }) => line([question, "[ask: Failed]"]))]
    }
    case "selective": {
      const matching = last(main, mode.lookBack).filter((kept) => kept.includes("tea"))
      return [...last(matching, window), ...last(own, limit)]
    }
    case "summarized": {
      // Nothing writes summaries here: the whole up to a length, then the window.
      const most = window + Math.ceil((mode.after + 6) / 2)
      return [...last(main, main.length <= most ? most : window), ...last(own, limit)]
    }
  }
}

/** What is to be kept of a call; `of` says in whose conversation, `undefined` in the main one. */
const kept = ({ agent, does, mode, question }: Call): ReadonlyArray<Keeps> => {
  const answer = `re: ${question}`
  const tool = does === "calls" ? ["[note: Succeeded]"] : does === "asks" ? ["[ask: Succeeded]"] : []
  const whole = line([question, ...tool, answer])
  const isShared = mode._tag === "shared"
  const report = `${agent} ${does === "fails" ? "failed: no answer" : `answered: ${answer}`}`
  const exchange = isShared && !mode.toolCalls ? line([question, answer]) : whole
  return [
    ...(does === "fails" ? [] : [{ of: isShared ? undefined : agent, kept: exchange }]),
    ...(mode._tag === "hybrid" ? [{ of: undefined, kept: line([`${agent} was asked: ${question}`, report]) }] : [])
  ]
}

interface Keeps {
  readonly of: string | undefined
  readonly kept: Kept
}
type Step = Keeps | { readonly call: Call; readonly around: ReadonlyArray<Call> }

/** What happens in a call, in its order: it sees, then what is inside of it, then it is kept. */
const steps = (call: Call, around: ReadonlyArray<Call> = []): ReadonlyArray<Step> => [
  { call, around },
  ...(call.inner === undefined ? [] : steps(call.inner, [...around, call])),
  ...kept(call)
]

/** The conversations of one session: the main one, and those of agents. */
export type Conversations = ReadonlyMap<string | undefined, ReadonlyArray<Kept>>

/**
 * Checks what has become of the conversations of a session when lines of calls went on
 * at once, those of one line one after the other. Behind what there was, each
 * conversation has what each line adds to it, once and in the order of the line. A call
 * saw the conversations as they were at some moment between what its line had added
 * before and what its line adds then.
 */
export const checkCalls = ({
  after,
  before,
  check,
  lines,
  saw
}: {
  readonly before: Conversations
  readonly lines: ReadonlyArray<ReadonlyArray<Call>>
  readonly after: Conversations
  readonly saw: (call: Call) => Kept
  readonly check: (found: unknown, wanted: unknown) => void
}): void => {
  const all = lines.map((calls) => calls.flatMap((call) => steps(call)))
  const added = (steps: ReadonlyArray<Step>, of: string | undefined) =>
    steps.flatMap((step) => ("kept" in step && step.of === of ? [step.kept] : []))
  for (const [of, found] of after) {
    const there = before.get(of)!
    check(found.slice(0, there.length), there)
    check(found.slice(there.length).toSorted(), all.flatMap((steps) => added(steps, of)).toSorted())
    for (const mine of all.map((steps) => added(steps, of))) {
      check(
        found.filter((kept) => mine.includes(kept)),
        mine
      )
    }
  }
  for (const steps of all) {
    for (const [i, step] of steps.entries()) {
      if ("kept" in step) continue
      const moments = (of: string | undefined) => {
        const found = after.get(of)!
        const at = (steps: ReadonlyArray<Step>) => added(steps, of).map((kept) => found.indexOf(kept))
        const from = Math.max(before.get(of)!.length, ...at(steps.slice(0, i)).map((n) => n + 1))
        const to = Math.min(found.length, ...at(steps.slice(i)))
        return Array.from({ length: to - from + 1 }, (_, n) => found.slice(0, from + n))
      }
      const { around, call } = step
      const permitted = moments(undefined).flatMap((main) =>
        moments(call.agent).map((own) => line([...shown(call, around, main, own), call.question]))
      )
      const found = saw(call)
      check(found, permitted.includes(found) ? found : permitted[0])
    }
  }
}
