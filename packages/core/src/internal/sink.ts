/**
 * Where the parts of a call go, and how they fold to its value.
 */
import * as Effect from "effect/Effect"

/** Says that the parts emitted since the call began, or since the last reset, belong to an attempt that was given up. */
export interface Reset {
  readonly _tag: "Reset"
}

/** The one `Reset` value. */
export const Reset: Reset = { _tag: "Reset" }

/** Whether a part is a `Reset`. */
export const isReset = (part: unknown): part is Reset =>
  (part as { readonly _tag?: unknown } | null | undefined)?._tag === "Reset"

/** How the parts of one kind of call make up its value. The fold of `whole(a)` must give `normal(a)`, and `a` again where there is no `normal`. */
export interface Fold<in out Part, in out A> {
  /** The value that the parts of a value make up, where they may make up a simpler one. */
  readonly normal?: (value: A) => A
  readonly make: () => Accumulator<Part, A>
  readonly whole: (value: A) => ReadonlyArray<Part>
}

/** Collects the parts of one attempt. `reset` forgets them. */
export interface Accumulator<in out Part, in out A> {
  readonly add: (part: Part) => void
  readonly reset: () => void
  readonly value: () => A
}

/**
 * What the receiver of the parts wants: only the `"value"` (a call may then
 * answer in one piece), all `"parts"` in whatever pieces, or each part `"live"`,
 * as soon as it is made.
 */
export type Demand = "value" | "parts" | "live"

/** Nothing, or an Effect that is to be run before the next part. */
export type Wait = void | Effect.Effect<void>

/** Where a call sends its parts. */
export interface Sink<in out Part, in out A> {
  readonly fold: Fold<Part, A>
  readonly demand: Demand
  emit(part: Part | Reset): Wait
  /** Takes a whole value in place of its parts. */
  whole(value: A): Wait
}

/** Emits parts one after the other, waiting where the sink wants it. */
export const emitAll = <Part, A>(sink: Sink<Part, A>, parts: ReadonlyArray<Part>, from = 0): Wait => {
  for (let i = from; i < parts.length; i++) {
    const wait = sink.emit(parts[i]!)
    if (wait !== undefined) {
      return i + 1 === parts.length ? wait : Effect.flatMap(wait, () => emitAll(sink, parts, i + 1) ?? Effect.void)
    }
  }
}

/** A sink that does something with each part. */
export class Each<Part, A> implements Sink<Part, A> {
  readonly fold: Fold<Part, A>
  readonly demand: Demand
  readonly emit: (part: Part | Reset) => Wait
  constructor(fold: Fold<Part, A>, demand: Demand, emit: (part: Part | Reset) => Wait) {
    this.fold = fold
    this.demand = demand
    this.emit = emit
  }
  whole(value: A): Wait {
    return emitAll(this, this.fold.whole(value))
  }
}

/** A sink that folds, and passes everything on to another if there is one. */
export class Folding<Part, A> implements Sink<Part, A> {
  readonly fold: Fold<Part, A>
  readonly demand: Demand
  private readonly outer: Sink<Part, A> | undefined
  private given: { readonly value: A } | undefined = undefined
  private parts: Accumulator<Part, A> | undefined = undefined

  constructor(fold: Fold<Part, A>, outer?: Sink<Part, A>) {
    this.fold = fold
    this.outer = outer
    this.demand = outer === undefined ? "value" : outer.demand
  }
  emit(part: Part | Reset): Wait {
    if (isReset(part)) this.given = this.parts = undefined
    else this.open().add(part)
    return this.outer?.emit(part)
  }
  whole(value: A): Wait {
    if (this.parts === undefined && this.given === undefined)
      this.given = { value: this.fold.normal === undefined ? value : this.fold.normal(value) }
    else this.fold.whole(value).forEach(this.open().add)
    return this.outer?.whole(value)
  }
  value(): A {
    return this.given === undefined ? this.open().value() : this.given.value
  }
  private open(): Accumulator<Part, A> {
    if (this.parts === undefined) {
      this.parts = this.fold.make()
      if (this.given !== undefined) this.fold.whole(this.given.value).forEach(this.parts.add)
      this.given = undefined
    }
    return this.parts
  }
}

/** A sink that knows whether something has been emitted that a new attempt must take back. */
export class Attempting<Part, A> implements Sink<Part, A> {
  readonly fold: Fold<Part, A>
  readonly demand: Demand
  private readonly outer: Sink<Part, A>
  private emitted = false

  constructor(outer: Sink<Part, A>) {
    this.fold = outer.fold
    this.demand = outer.demand
    this.outer = outer
  }
  emit(part: Part | Reset): Wait {
    this.emitted = !isReset(part)
    return this.outer.emit(part)
  }
  whole(value: A): Wait {
    this.emitted = true
    return this.outer.whole(value)
  }
  /** Emits a reset if one is due. */
  takeBack(): Wait {
    if (!this.emitted) return undefined
    this.emitted = false
    return this.outer.emit(Reset)
  }
}

/** A sink that remembers when a reader of the parts broke, so that who emits them is not blamed for it. */
export class Blameless<Part, A> implements Sink<Part, A> {
  readonly fold: Fold<Part, A>
  readonly demand: Demand
  broken = false
  private readonly outer: Sink<Part, A>

  constructor(outer: Sink<Part, A>) {
    this.fold = outer.fold
    this.demand = outer.demand
    this.outer = outer
  }
  emit(part: Part | Reset): Wait {
    // If this throws, it stays so.
    this.broken = true
    const wait = this.outer.emit(part)
    this.broken = false
    return wait === undefined ? undefined : this.waiting(wait)
  }
  whole(value: A): Wait {
    this.broken = true
    const wait = this.outer.whole(value)
    this.broken = false
    return wait === undefined ? undefined : this.waiting(wait)
  }
  private waiting(wait: Effect.Effect<void>): Wait {
    return Effect.tapDefect(wait, () => Effect.sync(() => (this.broken = true)))
  }
}
