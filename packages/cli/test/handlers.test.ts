import { Errors, Handler, Tool } from "@heddle/core"
import type { ModelProvider } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it } from "vitest"
import { HandlerRegistry } from "../src/index.ts"
import { limited, unhurried } from "../src/internal/agents/timeLimit.ts"
import { makeWorld } from "./support.ts"

const run = async (handlers: string, script: ScriptedModel.Script, files: Readonly<Record<string, string>> = {}) => {
  const { heddle } = makeWorld({
    "agents/clerk.md": `---\ntools: { allow: [read_file, fetch_url] }\nhandlers: ${handlers}\n---\nHi.\n`,
    ...files
  })
  const provider: ModelProvider.ModelProvider = {
    name: "scripted",
    make: () => Effect.map(ScriptedModel.make(script), ({ service }) => service)
  }
  return heddle(["run", "clerk", "Hi"], { providers: [provider], variables: { HEDDLE_MODEL: "scripted/any" } })
}

it("each handler says what it does", () => {
  expect(Object.keys(HandlerRegistry.builtIn)).toEqual([
    "instructions",
    "retry",
    "timeout",
    "toolTimeout",
    "maxToolResult"
  ])
  for (const { description } of Object.values(HandlerRegistry.builtIn)) expect(description).toMatch(/^[A-Z].*\.$/)
})

it("retry asks the model again after what may pass, and not after what stays", async () => {
  const failing =
    (reason: Errors.ModelErrorReason): ScriptedModel.Script =>
    (_, turn) =>
      turn < 2 ? new Errors.ModelError({ reason, message: "No." }) : "Yes."
  expect((await run("[{ name: retry, options: { baseDelay: 1 } }]", failing("Overloaded"))).out).toBe("Yes.\n")
  expect((await run("[{ name: retry, options: { baseDelay: 1 } }]", failing("BadRequest"))).status).toBe(1)
  expect((await run("[{ name: retry, options: { baseDelay: 1, times: 1 } }]", failing("Overloaded"))).status).toBe(1)
})

it("timeout ends a call of the model that takes too long", async () => {
  const { err, status } = await run("[{ name: timeout, options: { total: 20 } }]", [
    { text: "Late.", delay: "1 minute" }
  ])
  expect(status).toBe(1)
  expect(err).toContain("has not finished within 20ms")
})

it("toolTimeout tells the model of a tool that takes too long", async () => {
  const server = createServer(() => {})
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const script: ScriptedModel.Script = (request, turn) =>
    turn === 0 ? { calls: [{ tool: "fetch_url", arguments: { url } }] } : JSON.stringify(request.history)
  const { out } = await run("[{ name: toolTimeout, options: { after: 20 millis } }]", script)
  server.closeAllConnections()
  server.close()
  expect(out).toContain("did not answer within 20ms")
})

it("toolTimeout gives the person all the time that they need, to allow a tool and to answer one", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md":
      "---\ntools: { allow: [write_file, ask_user] }\nhandlers: [{ name: toolTimeout, options: { after: 500 millis } }]\n---\nHi.\n"
  })
  const script: ScriptedModel.Script = (request, turn) =>
    [
      { calls: [{ tool: "write_file", arguments: { path: "a.txt", content: "1" } }] },
      { calls: [{ tool: "ask_user", arguments: { question: "Who?" } }] }
    ][turn] ?? JSON.stringify(request.history)
  const provider: ModelProvider.ModelProvider = {
    name: "scripted",
    make: () => Effect.map(ScriptedModel.make(script), ({ service }) => service)
  }
  const { out } = await heddle(["run", "clerk", "Hi"], {
    answers: ["y", "Ada"],
    thinks: 700,
    providers: [provider],
    variables: { HEDDLE_MODEL: "scripted/any" }
  })
  expect(out).toContain("Wrote a.txt (1 bytes).")
  expect(out).toContain("Ada")
})

it("a limit of time stands still while a person is asked, also those around it, and goes on then", () =>
  Effect.gen(function* () {
    const limit = (name: string, duration: Duration.DurationInput) => (effect: Effect.Effect<string, string>) =>
      limited(effect, { duration, onLate: () => name })
    const work = (before: number, asked: number, after: number) =>
      Effect.sleep(before).pipe(
        Effect.zipRight(unhurried(Effect.sleep(asked))),
        Effect.zipRight(Effect.delay(Effect.succeed("done"), after))
      )
    const result = (effect: Effect.Effect<string, string>) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(Effect.merge(effect))
        yield* TestClock.adjust(10_000)
        return yield* Fiber.join(fiber)
      })
    const both = (effect: Effect.Effect<string, string>) => effect.pipe(limit("inner", 50), limit("outer", 60))
    expect(yield* result(both(work(20, 1000, 20)))).toBe("done")
    expect(yield* result(both(work(20, 1000, 40)))).toBe("inner")
    expect(yield* result(both(work(20, 0, 40)))).toBe("inner")
    expect(yield* result(work(5, 1000, 20).pipe(limit("inner", 50), Effect.delay(40), limit("outer", 60)))).toBe(
      "outer"
    )
    const two = Effect.all([unhurried(Effect.sleep(100)), unhurried(Effect.sleep(200))], { concurrency: 2 })
    expect(yield* result(Effect.delay(Effect.as(two, "done"), 40).pipe(limit("late", 50)))).toBe("done")
  }).pipe(Effect.provide(TestContext.TestContext), Effect.runPromise))

it("maxToolResult cuts what a tool gives, and says so once", async () => {
  const script: ScriptedModel.Script = (request, turn) =>
    turn === 0 ? { calls: [{ tool: "read_file", arguments: { path: "a.txt" } }] } : JSON.stringify(request.history)
  const cut = await run("[{ name: maxToolResult, options: { characters: 3 } }]", script, { "a.txt": "abcdef" })
  expect(cut.out).toContain('"abc\\n[The rest is left out: a result may have 3 characters.]"')
  expect(
    (await run("[{ name: maxToolResult, options: { characters: 6 } }]", script, { "a.txt": "abcdef" })).out
  ).toContain('"abcdef"')
})

it("maxToolResult cuts what comes bit by bit, and a denied tool of a handler is not there", async () => {
  const dripping = HandlerRegistry.define({
    description: "Adds a tool whose result comes bit by bit.",
    options: Schema.Struct({}),
    make: () =>
      Handler.tools(
        Tool.stream({ name: "drip", description: "Drips.", execute: () => Stream.make("ab", "cd", "ef", "gh") })
      )
  })
  const of = async (characters: number, deny: string) => {
    const { heddle } = makeWorld({
      "agents/clerk.md": `---\ntools: { deny: [${deny}] }\nhandlers: [dripping, { name: maxToolResult, options: { characters: ${characters} } }]\n---\nHi.\n`
    })
    const provider: ModelProvider.ModelProvider = {
      name: "scripted",
      make: () =>
        Effect.map(
          ScriptedModel.make(({ history, tools }, turn) =>
            turn === 0 && tools.size > 0 ? { calls: [{ tool: "drip" }] } : JSON.stringify([tools.names, history])
          ),
          ({ service }) => service
        )
    }
    const options = { providers: [provider], variables: { HEDDLE_MODEL: "scripted/any" }, handlers: { dripping } }
    return (await heddle(["run", "clerk", "Hi"], options)).out
  }
  expect(await of(8, "other")).toContain('"result":"abcdefgh"')
  expect(await of(4, "other")).toContain('"result":"abcd\\n[The rest is left out: a result may have 4 characters.]"')
  expect(await of(3, "other")).toContain('"result":"abc\\n[The rest is left out: a result may have 3 characters.]"')
  expect(await of(8, "drip")).toMatch(/^\[\[\],/)
})

it("options that make no sense are told with what is expected", async () => {
  const { err, status } = await run("[{ name: retry, options: { times: -1, baseDelay: soon } }]", ["Hi"])
  expect(status).toBe(2)
  expect(err).toContain("handlers[0].options.times: expected a whole number from 0")
  expect(err).toContain('handlers[0].options.baseDelay: expected a time such as "10 seconds"')
})
