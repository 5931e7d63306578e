/**
 * An immutable, ordered set of tools by name.
 */
import { dual } from "effect/Function"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import { DefinitionError } from "./Errors.ts"
import * as Tool from "./Tool.ts"

const TypeId: unique symbol = Symbol.for("@heddle/core/Tools")

/** A set of tools. `E` is what they fail a run with, `R` what they need. */
export interface Tools<out E = never, out R = never> extends Pipeable, Iterable<Tool.Tool<E, R>> {
  readonly [TypeId]: { readonly _E: (_: never) => E; readonly _R: (_: never) => R }
  readonly size: number
  /** In the order in which they were added. */
  readonly names: ReadonlyArray<string>
  readonly get: (name: string) => Tool.Tool<E, R> | undefined
}

class ToolsImpl<E, R> implements Tools<E, R> {
  declare readonly [TypeId]: Tools<E, R>[typeof TypeId]
  readonly names: ReadonlyArray<string>
  readonly #byName: ReadonlyMap<string, Tool.Tool<E, R>>
  constructor(byName: ReadonlyMap<string, Tool.Tool<E, R>>) {
    this.#byName = byName
    this.names = Array.from(byName.keys())
  }
  get size() {
    return this.names.length
  }
  get(name: string) {
    return this.#byName.get(name)
  }
  [Symbol.iterator]() {
    return this.#byName.values()
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is a set of tools. */
export const isTools = (u: unknown): u is Tools<unknown, unknown> => u instanceof ToolsImpl

/** No tools. */
export const empty: Tools = new ToolsImpl<never, never>(new Map())

const collect = <E, R>(tools: Iterable<Tool.Tool<E, R>>, onTwo: "refuse" | "replace"): Tools<E, R> => {
  const byName = new Map<string, Tool.Tool<E, R>>()
  for (const tool of tools) {
    const other = byName.get(tool.name)
    if (other !== undefined && onTwo === "refuse") {
      throw new DefinitionError(
        `Two tools are named ${JSON.stringify(tool.name)}: ` +
          `${JSON.stringify(other.description)} and ${JSON.stringify(tool.description)}.`
      )
    }
    byName.set(tool.name, tool)
  }
  return byName.size === 0 ? (empty as Tools<never, never>) : new ToolsImpl(byName)
}

/** A set of the given tools. Throws a `DefinitionError` when two have one name. */
export const make = <const T extends ReadonlyArray<Tool.Any>>(
  ...tools: T
): Tools<Tool.Error<T[number]>, Tool.Context<T[number]>> =>
  collect(tools, "refuse") as Tools<Tool.Error<T[number]>, Tool.Context<T[number]>>

/** Adds a tool. Throws a `DefinitionError` when there is one of that name. */
export const add: {
  <E2, R2>(tool: Tool.Tool<E2, R2>): <E, R>(self: Tools<E, R>) => Tools<E | E2, R | R2>
  <E, R, E2, R2>(self: Tools<E, R>, tool: Tool.Tool<E2, R2>): Tools<E | E2, R | R2>
} = dual(2, <E, R>(self: Tools<E, R>, tool: Tool.Tool<E, R>) => collect([...self, tool], "refuse"))

/** Adds a tool, in the place of the one of that name if there is one. */
export const set: {
  <E2, R2>(tool: Tool.Tool<E2, R2>): <E, R>(self: Tools<E, R>) => Tools<E | E2, R | R2>
  <E, R, E2, R2>(self: Tools<E, R>, tool: Tool.Tool<E2, R2>): Tools<E | E2, R | R2>
} = dual(2, <E, R>(self: Tools<E, R>, tool: Tool.Tool<E, R>) => collect([...self, tool], "replace"))

/** Puts the tools of `that` behind those of `self`; one of the same name takes the place of the earlier. */
export const concat: {
  <E2, R2>(that: Tools<E2, R2>): <E, R>(self: Tools<E, R>) => Tools<E | E2, R | R2>
  <E, R, E2, R2>(self: Tools<E, R>, that: Tools<E2, R2>): Tools<E | E2, R | R2>
} = dual(2, <E, R>(self: Tools<E, R>, that: Tools<E, R>) =>
  that.size === 0 ? self : self.size === 0 ? that : collect([...self, ...that], "replace")
)

/** Drops the tool of a name, if there is one. */
export const remove: {
  (name: string): <E, R>(self: Tools<E, R>) => Tools<E, R>
  <E, R>(self: Tools<E, R>, name: string): Tools<E, R>
} = dual(2, <E, R>(self: Tools<E, R>, name: string) => filter(self, (tool) => tool.name !== name))

/** Keeps the tools that `keep` says yes to. */
export const filter: {
  (keep: (tool: Tool.Any) => boolean): <E, R>(self: Tools<E, R>) => Tools<E, R>
  <E, R>(self: Tools<E, R>, keep: (tool: Tool.Any) => boolean): Tools<E, R>
} = dual(2, <E, R>(self: Tools<E, R>, keep: (tool: Tool.Any) => boolean) =>
  collect(Array.from(self).filter(keep), "refuse")
)

/** Changes each tool. Throws a `DefinitionError` when that gives two the same name. */
export const map: {
  <E, R, E2, R2>(f: (tool: Tool.Tool<E, R>) => Tool.Tool<E2, R2>): (self: Tools<E, R>) => Tools<E2, R2>
  <E, R, E2, R2>(self: Tools<E, R>, f: (tool: Tool.Tool<E, R>) => Tool.Tool<E2, R2>): Tools<E2, R2>
} = dual(2, <E, R, E2, R2>(self: Tools<E, R>, f: (tool: Tool.Tool<E, R>) => Tool.Tool<E2, R2>) =>
  collect(Array.from(self, f), "refuse")
)

/** Changes the tool of a name, if there is one: its description, annotations, `returnDirectly`. */
export const update: {
  (name: string, change: Omit<Parameters<typeof Tool.update>[1], "name">): <E, R>(self: Tools<E, R>) => Tools<E, R>
  <E, R>(self: Tools<E, R>, name: string, change: Omit<Parameters<typeof Tool.update>[1], "name">): Tools<E, R>
} = dual(3, <E, R>(self: Tools<E, R>, name: string, change: Parameters<typeof Tool.update>[1]) =>
  map(self, (tool: Tool.Tool<E, R>) => (tool.name === name ? Tool.update(tool, change) : tool))
)
