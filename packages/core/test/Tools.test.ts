import { describe, expect, it } from "@effect/vitest"
import { Errors, Tool, Tools } from "@heddle/core"
import { Arbitraries } from "@heddle/testing"

const named = (name: string, description = name) => Tool.make({ name, description, execute: () => "ok" })
const abc = Tools.make(named("a"), named("b"), named("c"))

describe("tools", () => {
  it("keep their order, and are found by name", () => {
    expect(abc.names).toEqual(["a", "b", "c"])
    expect(Array.from(abc, (tool) => tool.name)).toEqual(abc.names)
    expect(abc.size).toBe(3)
    expect(abc.get("b")?.name).toBe("b")
    expect(abc.get("__proto__")).toBeUndefined()
    expect(Tools.empty.size).toBe(0)
    expect(Tools.isTools(abc)).toBe(true)
    expect(Tools.isTools([])).toBe(false)
  })

  it("add puts a tool at the end, and refuses one of a name that is taken", () => {
    expect(Tools.add(abc, named("d")).names).toEqual(["a", "b", "c", "d"])
    expect(abc.pipe(Tools.add(named("d"))).names).toEqual(["a", "b", "c", "d"])
    expect(() => Tools.add(abc, named("b"))).toThrow(Errors.DefinitionError)
  })

  it("set takes the place of the tool of that name", () => {
    const changed = Tools.set(abc, named("b", "new"))
    expect(changed.names).toEqual(["a", "b", "c"])
    expect(changed.get("b")?.description).toBe("new")
    expect(Tools.set(named("d"))(abc).names).toEqual(["a", "b", "c", "d"])
  })

  it("concat puts tools behind, the later of one name in the place of the earlier", () => {
    const both = Tools.concat(abc, Tools.make(named("d"), named("a", "new")))
    expect(both.names).toEqual(["a", "b", "c", "d"])
    expect(both.get("a")?.description).toBe("new")
  })

  it("remove, filter, map and update change what they say", () => {
    expect(Tools.remove(abc, "b").names).toEqual(["a", "c"])
    expect(abc.pipe(Tools.remove("nobody")).names).toEqual(["a", "b", "c"])
    expect(Tools.filter(abc, (tool) => tool.name > "a").names).toEqual(["b", "c"])
    expect(abc.pipe(Tools.filter(() => false))).toBe(Tools.empty)
    expect(Tools.map(abc, (tool: Tool.Tool) => Tool.update(tool, { name: `${tool.name}2` })).names).toEqual([
      "a2",
      "b2",
      "c2"
    ])
    const updated = abc.pipe(Tools.update("b", { returnDirectly: true, annotations: { readOnly: true } }))
    expect(Array.from(updated, (tool) => tool.returnDirectly)).toEqual([false, true, false])
    expect(updated.get("b")?.annotations).toEqual({ readOnly: true, destructive: false, idempotent: false })
    expect(Tools.update(abc, "nobody", { description: "x" }).names).toEqual(abc.names)
  })

  it.prop(
    "empty is the unit of concat, which is associative",
    [Arbitraries.tools, Arbitraries.tools, Arbitraries.tools],
    ([a, b, c]) => {
      expect(Tools.concat(a, Tools.empty)).toBe(a)
      expect(Tools.concat(Tools.empty, a)).toBe(a)
      const left = Tools.concat(Tools.concat(a, b), c)
      const right = Tools.concat(a, Tools.concat(b, c))
      expect(left.names).toEqual(right.names)
      for (const name of left.names) expect(left.get(name)).toBe(right.get(name))
    }
  )

  it.prop("no operation changes what it is given", [Arbitraries.tools, Arbitraries.tool], ([tools, tool]) => {
    const before = [...tools.names]
    const all = Array.from(tools)
    Tools.set(tools, tool)
    Tools.concat(tools, Tools.make(tool))
    Tools.remove(tools, tool.name)
    Tools.filter(tools, () => false)
    Tools.update(tools, tool.name, { description: "x" })
    expect(tools.names).toEqual(before)
    expect(Array.from(tools)).toEqual(all)
  })
})
