import { describe, expect, it } from "@effect/vitest"
import { Agent, type AgentEvent, Message } from "@heddle/core"
import { ToolProvider } from "@heddle/models"
import * as Mcp from "@heddle/models/mcp"
import { ScriptedModel } from "@heddle/testing"
import { Effect, Schedule, type Scope, Stream } from "effect"
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { call, namesOf, text } from "./support.ts"

const require = createRequire(import.meta.url)
const example = (name: string) =>
  require.resolve(`@modelcontextprotocol/sdk/examples/server/${name}.js`).replace("/dist/cjs/", "/dist/esm/")
const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js")

const program = (file: string, args: ReadonlyArray<string> = []) =>
  Mcp.stdio({ name: "official", command: process.execPath, args: [file, ...args] })

const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** A server that is started with a port and reached over HTTP. */
const served = (file: string, args: ReadonlyArray<string> = []): Effect.Effect<Mcp.McpClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = String(yield* freePort)
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [file, ...args], {
          stdio: "ignore",
          env: { ...process.env, PORT: port, MCP_PORT: port }
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const url = `http://127.0.0.1:${port}/mcp`
    yield* Effect.tryPromise(() => fetch(url)).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.orDie)
    return yield* Mcp.http({ name: "official", url })
  })

const ways = {
  "as a program": program(everything, ["stdio"]),
  "over HTTP": served(everything, ["streamableHttp"])
}

for (const [way, connect] of Object.entries(ways)) {
  describe(`the server of everything, ${way}`, () => {
    it.scopedLive("serves an agent from question to answer", () =>
      Effect.gen(function* () {
        const server = yield* connect
        const model = yield* ScriptedModel.make([
          {
            calls: [
              { tool: "get-sum", arguments: { a: 2, b: 3 } },
              { tool: "echo", arguments: { message: "hi" } }
            ]
          },
          { calls: [{ tool: "get-sum", arguments: { a: "two" } }] },
          {
            calls: [{ tool: "get-structured-content", arguments: { location: "Chicago" } }, { tool: "get-tiny-image" }]
          },
          "done"
        ])
        const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(server, { deny: ["trigger-*"] }) })
        const { history, text } = yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
        expect(text).toBe("done")
        const [sum, echo, wrong, structured, image] = history.flatMap(Message.toolCalls).map(({ outcome }) => outcome)
        expect(sum).toEqual(Message.succeeded("The sum of 2 and 3 is 5."))
        expect(echo).toEqual(Message.succeeded("Echo: hi"))
        expect(wrong).toMatchObject({ _tag: "Failed" })
        expect(structured).toEqual(
          Message.succeeded({ temperature: 36, conditions: "Light rain / drizzle", humidity: 82 })
        )
        expect(image).toMatchObject({ _tag: "Succeeded", result: [{}, { type: "image", mediaType: "image/png" }, {}] })
        const offered = (yield* model.requests)[0]!.tools
        expect(offered.get("echo")).toMatchObject({
          description: "Echoes back the input string",
          jsonSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
          annotations: { readOnly: true, destructive: false, idempotent: true }
        })
        expect(offered.names.filter((name) => name.startsWith("trigger"))).toEqual([])
      })
    )

    it.scopedLive("tells the progress of a long operation", () =>
      Effect.gen(function* () {
        const server = yield* connect
        const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(server) })
        const tool = "trigger-long-running-operation"
        const model = ScriptedModel.layer([{ calls: [{ tool, arguments: { duration: 0.3, steps: 3 } }] }, "done"])
        const events = yield* Stream.runCollect(Agent.stream(agent, "go").pipe(Stream.provideLayer(model)))
        const progress = (Array.from(events) as Array<AgentEvent.AgentEvent>).flatMap((event) =>
          event._tag === "ToolProgress" ? [event.value] : []
        )
        expect(progress).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
      })
    )

    it.scopedLive("gives resources and links as JSON", () =>
      Effect.gen(function* () {
        const server = yield* connect
        const links = yield* call(server, "get-resource-links", { count: 2 })
        expect(links).toMatchObject({
          _tag: "Succeeded",
          result: [{ type: "text" }, { type: "resource_link" }, { type: "resource_link" }]
        })
        const { instructions, name } = yield* server.connect
        expect(name).toContain("everything")
        expect(instructions?.length).toBeGreaterThan(0)
      })
    )
  })
}

describe("the examples of the SDK", () => {
  it.scopedLive("structured output, as a program", () =>
    Effect.gen(function* () {
      const server = yield* program(example("mcpServerOutputSchema"))
      expect(yield* call(server, "get_weather", { city: "Paris", country: "FR" })).toMatchObject({
        _tag: "Succeeded",
        result: { temperature: { celsius: expect.any(Number) } }
      })
    })
  )

  it.scopedLive("progress, as a program", () =>
    Effect.gen(function* () {
      const server = yield* program(example("progressExample"))
      expect(yield* text(server, "count", { n: 2 })).toBe("Counted to 2")
      expect(yield* call(server, "count", { n: 0 })).toMatchObject({ _tag: "Failed" })
    })
  )

  it.scopedLive("streamable HTTP with sessions that can be resumed", () =>
    Effect.gen(function* () {
      const server = yield* served(example("simpleStreamableHttp"))
      expect(yield* namesOf(server)).toContain("multi-greet")
      expect(yield* text(server, "greet", { name: "Ada" })).toBe("Hello, Ada!")
      const agent = Agent.make({
        name: "a",
        handlers: ToolProvider.handler(server, { prefix: "web_", callTimeout: "100 millis" })
      })
      const model = ScriptedModel.layer([{ calls: [{ tool: "web_multi-greet", arguments: { name: "Ada" } }] }, "done"])
      const { history } = yield* Agent.run(agent, "go").pipe(Effect.provide(model))
      expect(history.flatMap(Message.toolCalls)[0]?.outcome).toMatchObject({ error: { reason: "Timeout" } })
      expect(yield* text(server, "greet", { name: "Bob" })).toBe("Hello, Bob!")
    })
  )
})
