/** Shows a run as it goes on: its text, its tools, and that something goes on at all. */
import type { AgentEvent, AgentRun, Message } from "@heddle/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Output } from "../Output.ts"
import { clean, jsonText, paint } from "../text.ts"
import { showingJson } from "./json.ts"
import { finishedLine, resetLine, startedLine, type ToolCall, waitingLine, warningLine } from "./lines.ts"
import { type Screen, screenOf } from "./Screen.ts"
import type { Event, Shown } from "./Shown.ts"

/** How a run is shown. */
export interface Options {
  /** As lines of JSON, and nothing else. */
  readonly json?: boolean
  /** Whether text is shown as it comes, or the answer once it is there; the former on a terminal unless said. */
  readonly stream?: boolean | undefined
  /** Whether the answer is data. */
  readonly structured?: boolean
}

/** How often the line is drawn that says that something goes on. */
const interval = "100 millis"

/** What shows runs, one after the other. What is left on the terminal is cleared with the scope. */
export const showing = (options: Options = {}): Effect.Effect<Shown, never, Output | Scope.Scope> =>
  Effect.gen(function* () {
    const output = yield* Output
    if (options.json === true) return showingJson(output.out)
    const screen = screenOf(output)
    const view = new View(output, screen, {
      stream: options.stream ?? output.out.isTerminal,
      structured: options.structured === true
    })
    if (output.err.isTerminal) {
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(interval), screen.ifFree(view.tick))))
    }
    yield* Effect.addFinalizer(() => screen.inTurn(screen.endLine))
    return {
      event: (event) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => screen.inTurn(view.event(event, now, 0, view.top))),
      cancelled: Effect.void,
      end: screen.inTurn(Effect.suspend(() => view.end()))
    }
  })

/** A call that goes on. */
interface Going extends ToolCall {
  readonly since: number
  /** What happens in the agent that it asks, if it asks one. */
  inside: Level | undefined
}

/** What goes on in an agent: in the one that was asked, or in one that is asked by it. */
interface Level {
  readonly calls: Map<string, Going>
}

class View {
  top: Level = { calls: new Map() }
  private isGoing = false
  private since = 0
  /** The text of this step, as it came. */
  private said = ""
  /** What may be the first half of a character. */
  private half = ""
  private isNewStep = false
  private readonly output: Output["Type"]
  private readonly screen: Screen
  private readonly how: { readonly stream: boolean; readonly structured: boolean }

  constructor(output: Output["Type"], screen: Screen, how: View["how"]) {
    this.output = output
    this.screen = screen
    this.how = how
  }

  /** Draws that something goes on. */
  readonly tick: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    this.isGoing ? this.screen.draw(waitingLine(this.output.err, waitingFor(this.top), now - this.since)) : Effect.void
  )

  end(): Effect.Effect<void> {
    this.isGoing = false
    this.top = { calls: new Map() }
    return this.screen.endLine
  }

  event(event: Event, now: number, depth: number, level: Level): Effect.Effect<void> {
    const { err } = this.output
    const indent = depth * 2
    const isTop = depth === 0
    switch (event._tag) {
      case "RunStarted":
        if (isTop) this.begin(now)
        return Effect.void
      case "StepStarted":
        if (!isTop) return Effect.void
        this.since = now
        this.said = ""
        this.isNewStep = true
        return Effect.void
      case "Text":
        return isTop ? this.text(event.text) : Effect.void
      case "StepReset":
      case "Reset": {
        level.calls.clear()
        const isSeen = isTop && this.how.stream && this.said !== ""
        if (isTop) {
          this.said = ""
          this.half = ""
          this.isNewStep = true
        }
        return isSeen ? this.screen.line(resetLine(err, indent)) : Effect.void
      }
      case "ToolStarted":
        level.calls.set(event.id, { name: event.name, arguments: event.arguments, since: now, inside: undefined })
        if (isTop) this.since = now
        return Effect.void
      case "ToolProgress":
        return this.progress(event, now, depth, level)
      case "ToolFinished":
        return this.finished(event, now, depth, level)
      case "Warning":
        return this.screen.line(warningLine(err, event.handler, event.error, indent))
      case "Completed":
        return isTop ? this.completed(event.result) : Effect.void
      case "Failed":
      case "Cancelled":
        return isTop ? this.end() : Effect.void
      default:
        return Effect.void
    }
  }

  private begin(now: number): void {
    this.top = { calls: new Map() }
    this.isGoing = true
    this.since = now
    this.said = ""
    this.half = ""
    this.isNewStep = false
  }

  private text(piece: string): Effect.Effect<void> {
    this.said += piece
    if (!this.how.stream) return Effect.void
    const whole = this.half + piece
    // A character may come in two halves, which are none by themselves.
    const isCut = /[\ud800-\udbff]$/.test(whole)
    this.half = isCut ? whole.slice(-1) : ""
    const text = this.screen.text(clean(isCut ? whole.slice(0, -1) : whole))
    if (!this.isNewStep) return text
    this.isNewStep = false
    return Effect.zipRight(this.screen.endLine, text)
  }

  private progress(
    { id, value }: Extract<Event, { readonly _tag: "ToolProgress" }>,
    now: number,
    depth: number,
    level: Level
  ): Effect.Effect<void> {
    const going = level.calls.get(id)
    if (going === undefined || !isEvent(value)) return Effect.void
    const show = (inside: Level) => {
      // Not all that looks like an event is one: a server may tell of its progress in any words.
      const shown = Effect.suspend(() => this.event(value, now, depth + 1, inside))
      return Effect.catchAllDefect(shown, () => Effect.void)
    }
    if (going.inside !== undefined) return show(going.inside)
    const inside = (going.inside = { calls: new Map<string, Going>() })
    return Effect.zipRight(this.screen.line(startedLine(this.output.err, going, depth * 2)), show(inside))
  }

  private finished(
    { id, name, outcome }: { readonly id: string; readonly name: string; readonly outcome: Message.ToolOutcome },
    now: number,
    depth: number,
    level: Level
  ): Effect.Effect<void> {
    const going = level.calls.get(id)
    level.calls.delete(id)
    if (depth === 0) this.since = now
    const call: ToolCall = going === undefined || going.inside !== undefined ? { name, arguments: undefined } : going
    return this.screen.line(finishedLine(this.output.err, call, outcome, now - (going?.since ?? now), depth * 2))
  }

  private completed({ output, text }: AgentRun.AgentResult): Effect.Effect<void> {
    const isShown = this.how.stream && this.said.trim() === text.trim()
    const answer = this.how.structured ? jsonText(output, 2) : clean(text)
    const rest = isShown ? Effect.void : Effect.zipRight(this.screen.endLine, this.screen.text(answer))
    this.isGoing = false
    const { err } = this.output
    return answer === ""
      ? this.screen.line(paint(err, "dim", "The model said nothing."))
      : Effect.zipRight(rest, this.screen.endLine)
  }
}

/** What a level waits for: tools, the innermost ones, or else the model. */
const waitingFor = ({ calls }: Level): string => {
  const all = [...calls.values()]
  if (all.length === 0) return "thinking"
  return all.map(({ inside, name }) => (inside === undefined ? name : `${name}: ${waitingFor(inside)}`)).join(", ")
}

/** What an agent tells of its progress are events. */
const isEvent = (value: unknown): value is AgentEvent.AgentEvent<AgentRun.AgentResult> =>
  typeof value === "object" && value !== null && "_tag" in value && typeof value._tag === "string"
