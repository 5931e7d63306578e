/** What is wrong with agents beside each other: with their names, and with whom they ask. */
import { unknownName } from "@heddle/core/names"
import type { AgentFile, Problem } from "../../AgentFile.ts"
import { isError, sorted } from "../problems.ts"
import type { Agents } from "./Agents.ts"
import { assistant } from "./assistant.ts"
import { circles } from "./circles.ts"
import type { Read } from "./parse.ts"

type Found = Pick<Agents, "all" | "shadowed" | "problems" | "broken">

/** The agents of files. Of one name, that of the project counts. */
export const together = (reads: ReadonlyArray<Read>): Found => {
  const problems: Array<Problem> = reads.flatMap((read) => read.problems)
  const shadowed: Array<AgentFile> = []
  const counts = new Map<string, Read>()
  for (const [name, same] of byName(reads)) {
    const project = same.filter(({ scope }) => scope === "project")
    const user = same.filter(({ scope }) => scope !== "project")
    problems.push(...twice(name, project), ...twice(name, user))
    const [first] = project
    counts.set(name, first ?? user[0]!)
    if (first === undefined) continue
    shadowed.push(...user.flatMap(({ agent }) => agent ?? []))
    problems.push(
      ...user.map((read) =>
        atName(read, "warning", `does not count: the project has an agent "${name}" in ${first.path}`)
      )
    )
  }
  const known = new Set([assistant.name, ...counts.keys()])
  problems.push(...reads.flatMap((read) => unknown(read, known)), ...handOvers(counts))
  const wrong = new Set(problems.filter(isError).map(({ path }) => path))
  const all = new Map<string, AgentFile>([[assistant.name, assistant]])
  const broken = new Map<string, string>()
  for (const [name, { agent, path }] of counts) {
    all.delete(name)
    if (agent === undefined || wrong.has(path)) broken.set(name, path)
    else all.set(name, agent)
  }
  return { all, shadowed, problems: sorted(problems), broken }
}

const byName = (reads: ReadonlyArray<Read>): ReadonlyMap<string, ReadonlyArray<Read>> => {
  const groups = new Map<string, Array<Read>>()
  for (const read of reads) {
    const group = groups.get(read.name)
    if (group === undefined) groups.set(read.name, [read])
    else group.push(read)
  }
  return groups
}

/** A problem of what an agent is called. */
const atName = (read: Read, severity: Problem["severity"], message: string): Problem => ({
  path: read.path,
  ...(read.data["name"] === undefined ? { line: 1, column: 1 } : read.place(["name"])),
  severity,
  message
})

const twice = (name: string, same: ReadonlyArray<Read>): ReadonlyArray<Problem> =>
  same.length < 2
    ? []
    : same.map((read) => {
        const others = same.filter((other) => other !== read).map(({ path }) => path)
        const shown = others.slice(0, 3).join(", ")
        const more = others.length > 3 ? ` and ${others.length - 3} more` : ""
        return atName(read, "error", `two agents have the name "${name}": the other one is in ${shown}${more}`)
      })

/** The agents that one asks, each with its index. */
const asked = ({ data }: Read): ReadonlyArray<readonly [number, string]> => {
  const { agents } = data
  return Array.isArray(agents)
    ? agents.flatMap((name: unknown, i) => (typeof name === "string" && name !== "" ? [[i, name] as const] : []))
    : []
}

const unknown = (read: Read, known: ReadonlySet<string>): ReadonlyArray<Problem> =>
  asked(read).flatMap(([i, name]): ReadonlyArray<Problem> => {
    if (known.has(name)) return []
    const message = `agents[${i}]: ${unknownName("agent", name, [...known])}`
    return [{ path: read.path, ...read.place(["agents", i]), severity: "error", message }]
  })

/** An agent that asks another one that asks it would never come to an end. */
const handOvers = (counts: ReadonlyMap<string, Read>): ReadonlyArray<Problem> => {
  const graph = new Map([...counts].map(([name, read]) => [name, asked(read).map(([, other]) => other)]))
  return circles(graph).map((circle) => {
    const name = circle[0]!
    const next = circle[1] ?? name
    // All names of a circle are those of files.
    const read = counts.get(name)!
    const i = asked(read).find(([, other]) => other === next)![0]
    const message = `agents[${i}]: agents ask each other in a circle: ${[...circle, name].join(" → ")}`
    return { path: read.path, ...read.place(["agents", i]), severity: "error", message }
  })
}
