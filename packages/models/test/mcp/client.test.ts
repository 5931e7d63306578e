import { describe, expect, it } from "@effect/vitest"
import { Agent, type AgentEvent, Call, Message, Tool, Tools } from "@heddle/core"
import { ToolProvider } from "@heddle/models"
import * as Mcp from "@heddle/models/mcp"
import { ScriptedModel } from "@heddle/testing"
import { Effect, Exit, Fiber, Logger, Redacted, Scope, Stream } from "effect"
import { call, inMemory, Log, namesOf, program, text, until, web } from "./support.ts"

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const pidIn = (log: Log) => Number(/pid (\d+)/.exec(log.text)?.[1])
const outcomes = (history: ReadonlyArray<Message.Message>) =>
  history.flatMap(Message.toolCalls).map((call) => call.outcome)

const ways = {
  "a program": (log: Log, more?: Partial<Mcp.Options>) => program("plain", log, more),
  "over HTTP": (log: Log, more?: Partial<Mcp.Options>) =>
    Effect.flatMap(web(), (web) => {
      Object.defineProperty(log, "text", { get: () => web.log.text })
      return Mcp.http({ name: "odd", url: web.url, ...more })
    }),
  "over HTTP that answers in JSON": (log: Log, more?: Partial<Mcp.Options>) =>
    Effect.flatMap(web("plain", { json: true }), (web) => {
      Object.defineProperty(log, "text", { get: () => web.log.text })
      return Mcp.http({ name: "odd", url: web.url, ...more })
    }),
  "in memory": (log: Log, more?: Partial<Mcp.Options>) => inMemory("plain", log, more)
}

for (const [way, connect] of Object.entries(ways)) {
  describe(`a server, ${way}`, () => {
    it.scopedLive("gives its tools, from all pages, and runs them", () =>
      Effect.gen(function* () {
        const server = yield* connect(new Log())
        expect(yield* server.connect).toEqual({ name: "odd", version: "1.2.3", instructions: "Be careful." })
        expect(yield* namesOf(server)).toHaveLength(13)
        const args = { a: [1, { b: "ü" }] }
        expect(yield* call(server, "echo", args)).toEqual(Message.succeeded(JSON.stringify(args)))
      })
    )

    it.scopedLive("is cancelled when the run is interrupted, and goes on serving others", () =>
      Effect.gen(function* () {
        const log = new Log()
        const server = yield* connect(log)
        const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(server) })
        const model = ScriptedModel.layer([{ calls: [{ tool: "stall" }] }, "done"])
        const run = yield* Effect.fork(Agent.run(agent, "go").pipe(Effect.provide(model)))
        yield* until(() => log.count("call stall") === 1)
        yield* Fiber.interrupt(run)
        yield* until(() => log.count("cancelled") === 1)
        expect(yield* text(server, "echo")).toBe("{}")
      })
    )

    it.scopedLive("is cancelled when a call takes too long, which the model is told", () =>
      Effect.gen(function* () {
        const log = new Log()
        const server = yield* connect(log)
        yield* server.connect
        const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(server, { callTimeout: "500 millis" }) })
        const model = ScriptedModel.layer([{ calls: [{ tool: "stall" }] }, "done"])
        const { history } = yield* Agent.run(agent, "go").pipe(Effect.provide(model))
        expect(outcomes(history)).toMatchObject([{ _tag: "Failed", error: { reason: "Timeout" } }])
        yield* until(() => log.count("cancelled") === 1)
      })
    )

    it.scopedLive("tells what went wrong in a tool to the model, and the protocol's errors as ours", () =>
      Effect.gen(function* () {
        const server = yield* connect(new Log())
        expect(yield* call(server, "fail")).toEqual(Message.failed("it is broken"))
        expect(yield* Effect.flip(call(server, "protocol-error"))).toMatchObject({
          _tag: "ToolProviderError",
          provider: "odd",
          reason: "Rejected",
          message: expect.stringContaining("no such thing")
        })
        expect(yield* Effect.flip(call(server, "nonsense"))).toMatchObject({ reason: "InvalidResponse" })
        expect(yield* text(server, "echo")).toBe("{}")
      })
    )

    it.scopedLive("gives results as text, as what they are, or as JSON that describes them", () =>
      Effect.gen(function* () {
        const server = yield* connect(new Log())
        expect(yield* call(server, "structured")).toEqual(Message.succeeded({ celsius: 18 }))
        const mixed = [
          { type: "text", text: "see" },
          { type: "image", mediaType: "image/png", bytes: 6 },
          { type: "audio", mediaType: "audio/wav", bytes: 4 },
          { type: "resource", uri: "file:///a.txt", mediaType: "text/plain", text: "a" },
          { type: "resource", uri: "file:///b.bin", bytes: 2 },
          { type: "resource_link", uri: "file:///c", name: "c", mediaType: "text/plain" }
        ]
        expect(yield* call(server, "mixed")).toEqual(Message.succeeded(mixed))
      })
    )

    it.scopedLive("a result of 10 MB is a failure that the model is told of, and the server goes on", () =>
      Effect.gen(function* () {
        const server = yield* connect(new Log())
        expect(yield* call(server, "big", { size: 10_000_000 })).toMatchObject({
          _tag: "Failed",
          reason: expect.stringContaining("has 10000000 characters, and 1000000 at most")
        })
        expect(yield* text(server, "big", { size: 3 })).toBe("bbb")
      })
    )
  })
}

for (const way of ["a program", "over HTTP", "in memory"] as const) {
  describe(`news of a server, ${way}`, () => {
    it.scopedLive("tools that appear and vanish are there and gone in the next request of a run", () =>
      Effect.gen(function* () {
        const log = new Log()
        const server = yield* ways[way](log)
        let changes = 0
        yield* Effect.forkScoped(
          Stream.runForEach(server.definitions.changes, () =>
            Effect.sync(() => {
              changes++
            })
          )
        )
        // Over HTTP the news and the result come by different ways, so the model waits for the news.
        const model = yield* ScriptedModel.make([
          ...["grow", "grown", "shrink"].map((tool) => ({ calls: [{ tool }] })),
          "done"
        ])
        let news = 0
        const agent = Agent.make({
          name: "a",
          handlers: ToolProvider.handler({
            ...server,
            execution: {
              execute: (call) =>
                Call.unwrap(
                  Effect.sync(() => {
                    news = changes
                    return Call.tapValue(server.execution.execute(call), () =>
                      call.name === "grow" || call.name === "shrink" ? until(() => changes > news) : Effect.void
                    )
                  })
                )
            }
          })
        })
        yield* server.connect
        // The stream of news is opened after the handshake.
        if (way === "over HTTP") yield* until(() => log.count("GET") === 1)
        yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
        const offered = (yield* model.requests).map(({ tools }) =>
          tools.names.filter((name) => /grow|shrink/.test(name))
        )
        expect(offered).toEqual([
          ["grow", "shrink"],
          ["grow", "shrink", "grown"],
          ["grow", "shrink", "grown"],
          ["grow"]
        ])
      })
    )

    it.scopedLive("progress of a call is told as events, all of it and before the result", () =>
      Effect.gen(function* () {
        const server = yield* ways[way](new Log())
        const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(server) })
        const model = ScriptedModel.layer([{ calls: [{ tool: "count" }] }, "done"])
        const events = yield* Stream.runCollect(Agent.stream(agent, "go").pipe(Stream.provideLayer(model)))
        const seen = (Array.from(events) as Array<AgentEvent.AgentEvent>).filter(({ _tag }) =>
          ["ToolProgress", "ToolFinished"].includes(_tag)
        )
        expect(seen).toMatchObject([
          { _tag: "ToolProgress", value: { progress: 1, total: 3, message: "1 of 3" } },
          { _tag: "ToolProgress", value: { progress: 2 } },
          { _tag: "ToolProgress", value: { progress: 3 } },
          { _tag: "ToolFinished", outcome: Message.succeeded("counted") }
        ])
      })
    )

    it.scopedLive(
      "no progress is asked for where nobody reads it, and a list that has not changed is asked for once",
      () =>
        Effect.gen(function* () {
          const log = new Log()
          const server = yield* ways[way](log)
          expect(yield* text(server, "count")).toBe("counted")
          expect(log.count("progress")).toBe(0)
          yield* Effect.forEach([1, 2, 3], () => namesOf(server), { concurrency: "unbounded" })
          // What a program writes to its log arrives when it arrives.
          yield* until(() => log.count("list") >= 7)
          expect(log.count("list")).toBe(7)
        })
    )
  })
}

describe("a server that is a program", () => {
  it.scopedLive("is ended when the scope closes", () =>
    Effect.gen(function* () {
      const log = new Log()
      const scope = yield* Scope.make()
      const server = yield* Scope.extend(program("plain", log), scope)
      yield* server.connect
      const pid = pidIn(log)
      expect(isRunning(pid)).toBe(true)
      yield* Scope.close(scope, Exit.void)
      yield* until(() => !isRunning(pid))
      expect(yield* Effect.flip(server.definitions.list)).toMatchObject({ reason: "Unavailable" })
    })
  )

  it.scopedLive("is ended when what uses it is interrupted, also if it will not go", () =>
    Effect.gen(function* () {
      const log = new Log()
      const use = Effect.scoped(Effect.flatMap(program("stubborn", log), (server) => call(server, "stall")))
      const fiber = yield* Effect.fork(use)
      yield* until(() => log.count("call stall") === 1)
      yield* Fiber.interrupt(fiber)
      yield* until(() => !isRunning(pidIn(log)))
      expect(log.count("cancelled")).toBe(1)
    })
  )

  it.scopedLive("that never answers is given up in time, and ended", () =>
    Effect.gen(function* () {
      const log = new Log()
      const server = yield* program("mute", log, { timeout: "2 seconds" })
      expect(yield* Effect.flip(server.connect)).toMatchObject({ reason: "Timeout", provider: "odd" })
      yield* until(() => Number.isNaN(pidIn(log)) || !isRunning(pidIn(log)))
    })
  )

  it.scopedLive("that dies in the middle fails the calls that are going on, and is started again", () =>
    Effect.gen(function* () {
      const log = new Log()
      const server = yield* program("plain", log)
      const stalling = yield* Effect.fork(Effect.flip(call(server, "stall")))
      yield* until(() => log.count("call stall") === 1)
      const dead = expect.objectContaining({ _tag: "ToolProviderError", reason: "Unavailable" })
      expect(yield* Effect.flip(call(server, "die"))).toEqual(dead)
      expect(yield* Fiber.join(stalling)).toEqual(dead)
      expect(yield* text(server, "echo")).toBe("{}")
      expect(log.text.match(/pid /g)).toHaveLength(2)
    })
  )

  it.scopedLive(
    "has the environment that it is given and what any program needs, and keeps its secrets from errors",
    () =>
      Effect.gen(function* () {
        process.env["HEDDLE_TEST_OWN"] = "ours alone"
        const server = yield* program("plain", new Log(), { env: { SECRET: Redacted.make("hush-hush"), GIVEN: "yes" } })
        const said = yield* text(server, "env")
        delete process.env["HEDDLE_TEST_OWN"]
        expect(said).toContain("GIVEN")
        expect(said).toContain("SECRET=hush-hush")
        expect(said).not.toContain("HEDDLE_TEST_OWN")
        const error = yield* Effect.flip(call(server, "protocol-error"))
        expect(error.message).toContain("the key is <redacted>")
        expect(JSON.stringify(error)).not.toContain("hush-hush")
      })
  )

  it.scopedLive("that is not there is an error that says so, and shows none of its arguments", () =>
    Effect.gen(function* () {
      const server = yield* Mcp.stdio({ name: "none", command: "no-such-command", args: ["--token=hush-hush"] })
      const error = yield* Effect.flip(server.connect)
      expect(error).toMatchObject({ reason: "Unavailable", message: expect.stringContaining("ENOENT") })
      expect(JSON.stringify(error)).not.toContain("hush-hush")
      // Nobody tries again at once.
      expect(yield* Effect.flip(server.definitions.list)).toBe(error)
    })
  )

  it.scopedLive("that ends at once is an error that says where to look", () =>
    Effect.gen(function* () {
      const server = yield* Mcp.stdio({ name: "odd", command: process.execPath, args: ["-e", "process.exit(3)"] })
      expect(yield* Effect.flip(server.connect)).toMatchObject({
        reason: "Unavailable",
        message: expect.stringContaining("`stderr`")
      })
    })
  )

  it.scopedLive("can be one for each run, ended with it", () =>
    Effect.gen(function* () {
      const log = new Log()
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(program("plain", log)) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "echo" }] }, "done"])
      const run: Effect.Effect<unknown, unknown> = Agent.run(agent, "go").pipe(Effect.provide(model))
      yield* run
      expect(log.count("call echo")).toBe(1)
      yield* until(() => !isRunning(pidIn(log)))
    })
  )

  it.scopedLive("may write other things to its output", () =>
    Effect.gen(function* () {
      expect(yield* text(yield* program("noisy"), "echo")).toBe("{}")
    })
  )

  it.scopedLive("whose message is too large loses its connection, with an error that says so", () =>
    Effect.gen(function* () {
      const server = yield* program("plain", new Log(), { limits: { message: 100_000 } })
      expect(yield* Effect.flip(call(server, "big", { size: 1_000_000 }))).toMatchObject({
        reason: "InvalidResponse",
        message: expect.stringContaining("more than 100000 bytes")
      })
      expect(yield* text(server, "echo")).toBe("{}")
    })
  )
})

describe("a server over HTTP", () => {
  for (const json of [false, true]) {
    it.scopedLive(`whose message is too large fails that call alone${json ? ", in JSON" : ""}`, () =>
      Effect.gen(function* () {
        const { log, url } = yield* web("plain", { json })
        const server = yield* Mcp.http({ name: "odd", url, limits: { message: 100_000 } })
        const other = yield* Effect.fork(call(server, "stall"))
        yield* until(() => log.count("call stall") === 1)
        expect(yield* Effect.flip(call(server, "big", { size: 1_000_000 }))).toMatchObject({
          reason: "InvalidResponse",
          message: expect.stringContaining("more than 100000 bytes")
        })
        expect(yield* text(server, "big", { size: 10 })).toBe("bbbbbbbbbb")
        yield* Fiber.interrupt(other)
      })
    )

    it.scopedLive(`that dies in the middle fails the calls that are going on${json ? ", in JSON" : ""}`, () =>
      Effect.gen(function* () {
        const { cut, log, url } = yield* web("plain", { json })
        const server = yield* Mcp.http({ name: "odd", url })
        const stalling = yield* Effect.fork(Effect.flip(call(server, "stall")))
        yield* until(() => log.count("call stall") === 1)
        cut()
        expect(yield* Fiber.join(stalling)).toMatchObject({ _tag: "ToolProviderError", reason: "Unavailable" })
        expect(yield* text(server, "echo")).toBe("{}")
      })
    )
  }

  it.scopedLive(
    "whose answers could be taken up again fails the calls that are going on when that does not succeed",
    () =>
      Effect.gen(function* () {
        const server = yield* web("plain", { resumable: true })
        const client = yield* Mcp.http({ name: "odd", url: server.url })
        const stalling = yield* Effect.fork(Effect.flip(call(client, "stall")))
        yield* until(() => server.log.count("call stall") === 1)
        server.refuse = (request) => (request.method === "GET" ? 503 : undefined)
        server.cut()
        expect(yield* Fiber.join(stalling)).toMatchObject({ _tag: "ToolProviderError", reason: "Unavailable" })
        expect(yield* text(client, "echo")).toBe("{}")
      })
  )

  it.scopedLive("ends the request of a call that was cancelled", () =>
    Effect.gen(function* () {
      for (const options of [{}, { json: true }, { resumable: true }]) {
        const server = yield* web("plain", options)
        const client = yield* Mcp.http({ name: "odd", url: server.url })
        const stalling = yield* Effect.fork(call(client, "stall"))
        yield* until(() => server.log.count("call stall") === 1)
        yield* Fiber.interrupt(stalling)
        yield* until(() => server.log.count("cut off") === 1)
        expect(server.log.count("cancelled")).toBe(1)
      }
    })
  )

  it.scopedLive("that has forgotten the session (HTTP 404) is connected to again, without a failure", () =>
    Effect.gen(function* () {
      const { forget, requests, url } = yield* web("plain")
      const server = yield* Mcp.http({ name: "odd", url })
      expect(yield* text(server, "echo")).toBe("{}")
      const before = requests.length
      forget()
      expect(yield* text(server, "echo")).toBe("{}")
      expect(requests.length).toBeGreaterThan(before)
    })
  )

  it.scopedLive("that says so with HTTP 400 is connected to again by the next use: nobody knows what was done", () =>
    Effect.gen(function* () {
      const { forget, url } = yield* web("plain", { forgotten: 400 })
      const server = yield* Mcp.http({ name: "odd", url })
      expect(yield* text(server, "echo")).toBe("{}")
      forget()
      expect(yield* Effect.flip(text(server, "echo"))).toMatchObject({ reason: "Unavailable" })
      expect(yield* text(server, "echo")).toBe("{}")
    })
  )

  it.scopedLive("that answers a call with 400 or 404 for another reason is not asked twice, and says why", () =>
    Effect.gen(function* () {
      const refusal = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "No such city." } })
      for (const options of [{}, { stateless: true }]) {
        for (const status of [400, 404]) {
          const server = yield* web("plain", options)
          const client = yield* Mcp.http({ name: "odd", url: server.url })
          yield* client.connect
          for (const said of "stateless" in options ? [refusal, "", "no such page"] : [refusal]) {
            server.refusal = said
            let asked = 0
            server.refuse = ({ method }) => (method === "POST" && ++asked > 0 ? status : undefined)
            const { message } = yield* Effect.flip(call(client, "echo"))
            expect(asked).toBe(1)
            expect(message).toContain(said === refusal ? "No such city." : said)
          }
        }
      }
    })
  )

  it.scopedLive("is sent the headers, and told when the client leaves", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* web()
      const headers = { authorization: Redacted.make("Bearer hush-hush") }
      yield* Effect.scoped(Effect.flatMap(Mcp.http({ name: "odd", url, headers }), (server) => server.connect))
      expect(requests.every((request) => request.headers.authorization === "Bearer hush-hush")).toBe(true)
      expect(requests.at(-1)?.method).toBe("DELETE")
    })
  )

  it.scopedLive("that refuses is an error with a reason, and without what is secret", () =>
    Effect.gen(function* () {
      const server = yield* web()
      const reasonOf = (status: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            server.refuse = () => status
            const headers = { authorization: Redacted.make("Bearer hush-hush") }
            const error = yield* Effect.flip((yield* Mcp.http({ name: "odd", url: server.url, headers })).connect)
            expect(String(error.message) + JSON.stringify(error)).not.toContain("hush-hush")
            return error.reason
          })
        )
      expect(yield* Effect.forEach([401, 403, 404, 405, 200], reasonOf)).toEqual([
        "Unauthorized",
        "Unauthorized",
        "Unavailable",
        "Unavailable",
        "InvalidResponse"
      ])
    })
  )

  it.scopedLive("that is there a moment later is connected to after a rest", () =>
    Effect.gen(function* () {
      const server = yield* web()
      let refused = 0
      server.refuse = () => (refused++ < 2 ? 503 : undefined)
      const client = yield* Mcp.http({ name: "odd", url: server.url })
      expect(yield* text(client, "echo")).toBe("{}")
      expect(refused).toBeGreaterThan(2)
    })
  )

  it.scopedLive("whose URL is none is an error at once, and a secret is kept from errors in pieces, too", () =>
    Effect.gen(function* () {
      const nowhere = yield* Mcp.http({ name: "odd", url: "not a URL" })
      expect(yield* Effect.flip(nowhere.connect)).toMatchObject({ message: expect.stringContaining("URL") })
      process.env["SECRET"] = "hush-hush"
      const { url } = yield* web()
      const headers = { authorization: Redacted.make("Bearer hush-hush") }
      const error = yield* Effect.flip(call(yield* Mcp.http({ name: "odd", url, headers }), "protocol-error"))
      delete process.env["SECRET"]
      expect(error.message).toContain("the key is <redacted>")
    })
  )

  it.scopedLive("keeps its words whole where a header is blank, or too short to be a secret", () =>
    Effect.gen(function* () {
      const headers = { "x-blank": Redacted.make(" "), "x-flag": Redacted.make("1"), "x-mode": Redacted.make("the") }
      const error = yield* Effect.flip((yield* Mcp.http({ name: "odd", url: "not a URL", headers })).connect)
      expect(error.message).toBe('The MCP server "odd" cannot be reached: its URL is none.')
    })
  )

  it.scopedLive("that is not there fails the run, or the run goes on without", () =>
    Effect.gen(function* () {
      const server = yield* Mcp.http({ name: "none", url: "http://127.0.0.1:1/mcp" })
      const model = ScriptedModel.layer(["done"])
      const failing = Agent.make({ name: "a", handlers: ToolProvider.handler(server) })
      const error = yield* Effect.flip(Agent.run(failing, "go").pipe(Effect.provide(model)))
      expect(error).toMatchObject({ _tag: "ToolProviderError", provider: "none", reason: "Unavailable" })
      const going = Agent.make({ name: "a", handlers: ToolProvider.handler(server, { onUnavailable: "warn" }) })
      const { text, warnings } = yield* Agent.run(going, "go").pipe(Effect.provide(model))
      expect(text).toBe("done")
      expect(warnings).toMatchObject([{ handler: "toolProvider", error: { reason: "Unavailable" } }])
    })
  )
})

describe("a hostile server", () => {
  it.scopedLive("tools that make no sense are left out, and do not take the others with them", () =>
    Effect.gen(function* () {
      const server = yield* inMemory("hostile-list")
      const warned: Array<unknown> = []
      const logger = Logger.make(({ message }) => void warned.push(message))
      const tools = yield* ToolProvider.tools(server).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(warned).toEqual([[expect.stringContaining('"untyped" is not described as a tool is; ')]])
      expect(tools.names).toEqual(["fine", "__proto__", "constructor", "with_spaces_and_more", "wordy", "harmless"])
      expect(tools.get("wordy")?.description).toHaveLength(10_000)
      expect(tools.get("fine")?.annotations).toEqual({ readOnly: true, destructive: false, idempotent: true })
      expect(tools.get("harmless")?.annotations).toEqual({ readOnly: false, destructive: false, idempotent: true })
      expect(tools.get("wordy")?.annotations).toEqual({ readOnly: false, destructive: true, idempotent: false })
      expect(tools.get("__proto__")?.jsonSchema).toEqual({ type: "object", properties: {} })
      expect((yield* server.definitions.list).find(({ name }) => name === "harmless")?.title).toBe("For people")
    })
  )

  it.scopedLive("a result that is nested too deeply is a failure that the model is told of", () =>
    Effect.gen(function* () {
      const server = yield* inMemory("plain")
      for (const isError of [false, true]) {
        const outcome = yield* call(server, "deep", { isError })
        expect(outcome).toMatchObject({ _tag: "Failed", reason: expect.stringContaining("nested too deeply") })
      }
    })
  )

  it.scopedLive("what a tool fails with and what is logged has no secret in it", () =>
    Effect.gen(function* () {
      const headers = { authorization: Redacted.make("Bearer hush-hush") }
      process.env["SECRET"] = "hush-hush"
      const client = yield* Mcp.http({ name: "odd", url: (yield* web()).url, headers })
      const failures = [yield* call(client, "telling"), yield* call(client, "telling-json")]
      delete process.env["SECRET"]
      expect(failures).toEqual([
        Message.failed("the key is <redacted>"),
        Message.failed("The tool failed.", { keys: ["<redacted>"] })
      ])
      const { url } = yield* web("untyped")
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(JSON.stringify(message)))
      const listing = yield* Mcp.http({ name: "odd", url, headers: { "x-key": Redacted.make("untyped") } })
      yield* listing.definitions.list.pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(lines.join("")).toContain("<redacted>")
      expect(lines.join("")).not.toContain("untyped")
    })
  )

  it.scopedLive("a secret is found before anything is cut or quoted, and in keys, too", () =>
    Effect.gen(function* () {
      for (const secret of [`hush-${"a1".repeat(40)}`, 'hush-"quoted\\"-hush']) {
        process.env["SECRET"] = secret
        const headers = { "x-key": Redacted.make(secret) }
        const client = yield* Mcp.http({ name: "odd", url: (yield* web()).url, headers })
        const failures = [
          yield* call(client, "telling-keys"),
          yield* Effect.map(Effect.flip(call(client, secret)), ({ message }) => message)
        ]
        const lines: Array<unknown> = []
        const logger = Logger.make(({ message }) => void lines.push(message))
        const listing = yield* Mcp.http({ name: "odd", url: (yield* web("untyped")).url, headers })
        yield* listing.definitions.list.pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
        delete process.env["SECRET"]
        expect(failures).toEqual([
          Message.failed("The tool failed.", { "of <redacted>": [{}, 1] }),
          expect.stringContaining("the key is <redacted>")
        ])
        expect(lines).toEqual([
          ['Tools of the MCP server "odd" are left out: "<redacted>" is not described as a tool is.']
        ])
      }
    })
  )

  it.scopedLive(
    "what stands behind the host of a redacted URL is in no error, in whatever form the server has it",
    () =>
      Effect.gen(function* () {
        const server = yield* web()
        const key = "k+y/7&hush"
        const inPath = "0123456789abcdef"
        const refusals = [
          [`no such key: ${key}`, "no such key: <redacted>"],
          [`no such key: ${encodeURIComponent(key)}`, "no such key: <redacted>"],
          [`Cannot POST /mcp/${inPath}?api_key=${encodeURIComponent(key)}`, "Cannot POST <redacted>"],
          [`${inPath} is nobody`, "<redacted> is nobody"]
        ]
        const url = Redacted.make(`${server.url}/${inPath}?api_key=${encodeURIComponent(key)}`)
        for (const [said = "", shown] of refusals) {
          server.refusal = said
          server.refuse = () => 401
          const { message } = yield* Effect.flip((yield* Mcp.http({ name: "odd", url })).connect)
          expect(message).toContain(`It says: ${shown}`)
        }
        server.refuse = () => undefined
        expect(yield* text(yield* Mcp.http({ name: "odd", url }), "echo")).toBe("{}")
        const nowhere = yield* Mcp.http({ name: "odd", url: Redacted.make("no URL") })
        expect(yield* Effect.flip(nowhere.connect)).toMatchObject({
          message: expect.stringContaining("its URL is none")
        })
      })
  )

  it.scopedLive("a list that does not come is not waited for again by the next who asks", () =>
    Effect.gen(function* () {
      const log = new Log()
      const server = yield* inMemory("silent", log, { timeout: "200 millis" })
      const agent = Agent.make({
        name: "a",
        tools: Tools.make(Tool.make({ name: "own", description: "Its own.", execute: () => "ok" })),
        handlers: ToolProvider.handler(server, { onUnavailable: "warn" })
      })
      const model = ScriptedModel.layer([{ calls: [{ tool: "own" }] }, { calls: [{ tool: "own" }] }, "done"])
      const { text, warnings } = yield* Agent.run(agent, "go").pipe(Effect.provide(model))
      expect([text, log.count("list")]).toEqual(["done", 1])
      expect(warnings).toMatchObject([{ error: { reason: "Timeout" } }])
      expect(yield* Effect.flip(server.definitions.list)).toBe(warnings?.[0]?.error)
    })
  )

  it.scopedLive("a list of 10,000 tools is refused, unless it is wanted", () =>
    Effect.gen(function* () {
      const refused = yield* inMemory("many")
      expect(yield* Effect.flip(refused.definitions.list)).toMatchObject({
        reason: "InvalidResponse",
        message: expect.stringContaining("limits.tools")
      })
      const wanted = yield* inMemory("many", new Log(), { limits: { tools: 10_000 } })
      const model = yield* ScriptedModel.make(["done"])
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(wanted, { allow: ["tool-99??"] }) })
      yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
      expect((yield* model.requests)[0]?.tools.size).toBe(100)
    })
  )

  it.scopedLive("a list without an end, and one that is none, are refused", () =>
    Effect.gen(function* () {
      for (const mode of ["endless", "not-a-list"] as const) {
        const server = yield* inMemory(mode)
        expect(yield* Effect.flip(server.definitions.list)).toMatchObject({ reason: "InvalidResponse" })
      }
    })
  )

  it.scopedLive("a description of 3 MB is cut, and a server without tools has none", () =>
    Effect.gen(function* () {
      const huge = yield* program("huge")
      expect((yield* huge.definitions.list)[0]?.description).toHaveLength(10_000)
      expect(yield* namesOf(yield* inMemory("no-tools"))).toEqual([])
    })
  )

  it.scopedLive("arguments with odd names reach the server as they are", () =>
    Effect.gen(function* () {
      const args = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<string, unknown>
      const tools = yield* ToolProvider.tools(yield* program("plain"))
      const tool = tools.get("echo")!
      const outcome = yield* Tool.run(
        Tool.execute({ id: "c", name: "echo", arguments: args, tool, offered: [] }) as Tool.ToolRun
      )
      expect(outcome).toMatchObject({ _tag: "Succeeded", result: expect.stringContaining('"constructor":1') })
      expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined()
    })
  )
})
