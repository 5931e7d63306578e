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

/** A conversation: all that was kept, and how many of it a summary covers. */
export interface Conversation {
  readonly all: ReadonlyArray<Kept>
  readonly through: number
}

/** What the scripted model makes of exchanges that it is to summarize: what was asked in them. */
export const summaryOf = (covered: ReadonlyArray<Kept>): string =>
  covered.map((kept) => kept.split(" | ")[0]!).join(", ")

const last = <A>(all: ReadonlyArray<A>, n: number) => all.slice(Math.max(0, all.length - n))

/** The last exchanges that fit. A message counts four tokens, its text none. */
const within = (all: ReadonlyArray<Kept>, window: ContextMode.Window | undefined): ReadonlyArray<Kept> => {
  if (window === undefined) return all
  if ("exchanges" in window) return last(all, window.exchanges)
  const tokens = (n: number) => 4 * last(all, n).flatMap((kept) => kept.split(" | ")).length
  const fits = all.filter((_kept, i) => tokens(i + 1) <= window.tokens).length
  return last(all, fits)
}

/** What is to be seen of a conversation: its summary, and exchanges. */
export const seen = (
  about: "main" | "own",
  { all, through }: Conversation,
  { historyLimit = 10, strategy = "window", summaryTrigger = 30, ...settings }: MemorySettings.MemorySettings,
  said?: ContextMode.Window
) => {
  const window = said ?? (strategy === "full" ? undefined : { exchanges: historyLimit })
  if (strategy !== "summary") return { told: [], kept: within(all, window) }
  const rest = all.slice(through)
  const told = through === 0 ? [] : [`(${about}: ${summaryOf(all.slice(0, through))})`]
  // All until the next summary is due; where it does not come, the window.
  const waiting =
    settings.summaryEnabled === false ? 0 : Math.ceil((summaryTrigger + (settings.summaryMinGrowth ?? 6)) / 2)
  const isNear = window !== undefined && "exchanges" in window && rest.length <= window.exchanges + waiting
  return { told, kept: isNear ? rest : within(rest, window) }
}

/** What the model is to be shown of the two conversations, from inside of the calls `around`, the outermost first. */
const shown = (
  { mode, settings }: Call,
  around: ReadonlyArray<Call>,
  theMain: Conversation,
  theOwn: Conversation
): ReadonlyArray<Kept> => {
  const own = (window?: ContextMode.Window) => seen("own", theOwn, settings, window)
  const main = (settings: MemorySettings.MemorySettings) => seen("main", theMain, settings, mode.window)
  const shows = (...parts: ReadonlyArray<ReturnType<typeof seen>>) => [
    ...parts.flatMap(({ told }) => told),
    ...parts.flatMap(({ kept }) => kept)
  ]
  switch (mode._tag) {
    case "isolated":
    case "hybrid":
      return shows(own(mode.window))
    case "shared":
      return shows(main(settings))
    case "fork": {
      const going = around.filter(({ mode }) => mode._tag === "shared")
      return [...shows(main(settings)), ...going.map(({ question }) => line([question, "[ask: Failed]"]))]
    }
    case "selective": {
      const matching = last(theMain.all, mode.lookBack).filter((kept) => kept.includes("tea"))
      const window =
        mode.window ?? (settings.strategy === "full" ? undefined : { exchanges: settings.historyLimit ?? 10 })
      return shows({ told: [], kept: within(matching, window) }, own())
    }
    case "summarized":
      return shows(main({ ...settings, strategy: "summary", summaryEnabled: true, summaryTrigger: mode.after }), own())
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
export type Conversations = ReadonlyMap<string | undefined, Conversation>

/**
 * Checks what has become of the conversations of a session when lines of calls went on
 * at once, those of one line one after the other. Behind what there was, each
 * conversation has what each line adds to it, once and in the order of the line. A call
 * saw the conversations as they were at some moment between what its line had added
 * before and what its line adds then, with the summaries that were there before all of them.
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
  for (const [of, { all: found }] of after) {
    const there = before.get(of)!.all
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
        const { all: there, through } = before.get(of)!
        const found = after.get(of)!.all
        const at = (steps: ReadonlyArray<Step>) => added(steps, of).map((kept) => found.indexOf(kept))
        const from = Math.max(there.length, ...at(steps.slice(0, i)).map((n) => n + 1))
        const to = Math.min(found.length, ...at(steps.slice(i)))
        return Array.from({ length: to - from + 1 }, (_, n) => ({ all: found.slice(0, from + n), through }))
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
