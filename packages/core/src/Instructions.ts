/**
 * What an agent is told: an ordered list of sections, each with the name of who
 * added it. A value and a monoid (`empty`, `concat`); nothing here changes in
 * place, and there is no template syntax: braces in a text are text.
 *
 * @example
 * ```ts
 * import { Instructions } from "@heddle/core"
 *
 * const polite = Instructions.make("You review code.").pipe(
 *   Instructions.append("Be kind.", "tone")
 * )
 * console.log(Instructions.render(polite))
 * ```
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import { dual } from "effect/Function"
import * as Hash from "effect/Hash"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import * as Stream from "effect/Stream"
import { CurrentRun, PendingScope, ScopeTarget } from "./internal/currentRun.ts"

/** A piece of instructions and who added it (`""`: not known yet; a handler's additions get its name). */
export interface Section {
  readonly source: string
  readonly text: string
}

/** An ordered list of sections, joined by an empty line when rendered. */
export interface Instructions extends Pipeable, Equal.Equal {
  readonly sections: ReadonlyArray<Section>
}

class InstructionsImpl implements Instructions {
  readonly sections: ReadonlyArray<Section>
  #text: string | undefined
  constructor(sections: ReadonlyArray<Section>) {
    this.sections = sections
  }
  static render(self: InstructionsImpl): string {
    return (self.#text ??= self.sections.map((section) => section.text).join("\n\n"))
  }
  [Equal.symbol](that: unknown): boolean {
    return (
      that instanceof InstructionsImpl &&
      that.sections.length === this.sections.length &&
      that.sections.every((s, i) => s.source === this.sections[i]!.source && s.text === this.sections[i]!.text)
    )
  }
  [Hash.symbol](): number {
    return Hash.string(InstructionsImpl.render(this))
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is instructions. */
export const isInstructions = (u: unknown): u is Instructions => u instanceof InstructionsImpl

/** No instructions. */
export const empty: Instructions = new InstructionsImpl([])

/** Instructions from sections, in their order. Sections without text are left out. */
export const fromSections = (sections: ReadonlyArray<Section>): Instructions => {
  const kept = sections.filter((section) => section.text !== "")
  return kept.length === 0 ? empty : new InstructionsImpl(kept)
}

/** Instructions of one section. */
export const make = (text: string, source = ""): Instructions =>
  text === "" ? empty : new InstructionsImpl([{ source, text }])

/** The text that the model is given. Rendered once per value. */
export const render = (self: Instructions): string => InstructionsImpl.render(self as InstructionsImpl)

/** Puts `that` behind `self`. Associative, with `empty` as its unit. */
export const concat: {
  (that: Instructions): (self: Instructions) => Instructions
  (self: Instructions, that: Instructions): Instructions
} = dual(2, (self: Instructions, that: Instructions): Instructions =>
  that.sections.length === 0
    ? self
    : self.sections.length === 0
      ? that
      : new InstructionsImpl(self.sections.concat(that.sections))
)

const isSelf = (args: IArguments) => isInstructions(args[0])

/** Adds a section at the end. */
export const append: {
  (text: string, source?: string): (self: Instructions) => Instructions
  (self: Instructions, text: string, source?: string): Instructions
} = dual(isSelf, (self: Instructions, text: string, source?: string) => concat(self, make(text, source)))

/** Adds a section at the beginning. */
export const prepend: {
  (text: string, source?: string): (self: Instructions) => Instructions
  (self: Instructions, text: string, source?: string): Instructions
} = dual(isSelf, (self: Instructions, text: string, source?: string) => concat(make(text, source), self))

/** Puts `text` in the place of the first section of `source` and drops its others; adds it at the end when there is none. */
export const replace: {
  (source: string, text: string): (self: Instructions) => Instructions
  (self: Instructions, source: string, text: string): Instructions
} = dual(3, (self: Instructions, source: string, text: string) => {
  const first = self.sections.findIndex((section) => section.source === source)
  if (first < 0) return append(self, text, source)
  return fromSections(
    self.sections.flatMap((section, i) =>
      section.source !== source ? [section] : i === first ? [{ source, text }] : []
    )
  )
})

/** Drops the sections of `source`. */
export const remove: {
  (source: string): (self: Instructions) => Instructions
  (self: Instructions, source: string): Instructions
} = dual(2, (self: Instructions, source: string) =>
  fromSections(self.sections.filter((section) => section.source !== source))
)

/** Changes each section. */
export const map: {
  (f: (section: Section) => Section): (self: Instructions) => Instructions
  (self: Instructions, f: (section: Section) => Section): Instructions
} = dual(2, (self: Instructions, f: (section: Section) => Section) => fromSections(self.sections.map(f)))

/** Gives the sections that have no source yet the name of who added them. */
export const attribute: {
  (source: string): (self: Instructions) => Instructions
  (self: Instructions, source: string): Instructions
} = dual(2, (self: Instructions, source: string) =>
  self.sections.some((section) => section.source === "")
    ? new InstructionsImpl(
        self.sections.map((section) => (section.source === "" ? { source, text: section.text } : section))
      )
    : self
)

/** Reads the instructions in force, from inside a hook or a tool of a run. Outside of a run they are empty. */
export const current: Effect.Effect<Instructions> = Effect.map(CurrentRun, (cell) => cell?.instructions ?? empty)

/**
 * A text between tags, for what is quoted to the model and must not speak for itself:
 * it cannot leave the tags, since tags of that name in it are taken apart. A tag's
 * name is letters, digits, `_` and `-`.
 */
export const quoted = (
  tag: string,
  text: string,
  attributes: Readonly<Record<string, string | number>> = {}
): string => {
  let head = tag
  for (const name of Object.keys(attributes)) head += ` ${name}="${attributeText(attributes[name]!)}"`
  return `<${head}>\n${withoutTag(tag, text)}\n</${tag}>`
}

const withoutTag = (tag: string, text: string): string =>
  // Most texts have no tag at all, and a pattern is slow to make and to look for.
  text.includes("<") ? text.replace(new RegExp(`<(?=\\s*/?\\s*${tag})`, "gi"), "&lt;") : text

const attributeText = (value: string | number): string => {
  // What comes from elsewhere may be neither, whatever its type says.
  const text = String(value)
  return special.test(text) ? text.replace(/["&<>\n\r]/g, (character) => `&#${character.charCodeAt(0)};`) : text
}

const special = /["&<>\n\r]/

/** A change of instructions, as `scoped` takes it. */
export type Change = (instructions: Instructions) => Instructions

interface ScopeTarget<Self> {
  readonly [ScopeTarget]: (change: Change) => Self
}

/**
 * Changes the instructions of the run that `self` begins, and of nothing else:
 * not of the agent, not of another run, not of an agent started inside. The
 * change is applied to the agent's own instructions, before any handler sees
 * them, and is used up where the run begins. What it adds without a source of its
 * own has the source `"scoped"`.
 *
 * @example
 * ```ts
 * import { Agent, Instructions } from "@heddle/core"
 *
 * const agent = Agent.make({ name: "helper", instructions: "Help." })
 * const forAda = Agent.run(agent, "Hello").pipe(Instructions.scoped(Instructions.append("The user is Ada.")))
 * ```
 */
export const scoped =
  (change: Change) =>
  <Self extends Effect.Effect<unknown, unknown, unknown> | Stream.Stream<unknown, unknown, unknown>>(
    self: Self
  ): Self => {
    if (ScopeTarget in self) return (self as unknown as ScopeTarget<Self>)[ScopeTarget](change)
    const outer = Effect.map(PendingScope, (pending): Change => (pending ? (i) => change(pending(i)) : change))
    // The operators below give back the type they take: `PendingScope` is a reference, so it never was in `R`.
    return (Effect.isEffect(self)
      ? Effect.flatMap(outer, (pending) => Effect.provideService(self, PendingScope, pending))
      : Stream.unwrap(
          Effect.map(outer, (pending) =>
            Stream.provideService(self as Stream.Stream<unknown, unknown, unknown>, PendingScope, pending)
          )
        )) as unknown as Self
  }
