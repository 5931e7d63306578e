import { Call, ChatModel, Errors, type Handler, History, Instructions, Message } from "@heddle/core"
import * as HttpServer from "@effect/platform/HttpServer"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Queue, SubscriptionRef } from "effect"
import { once } from "node:events"
import { request } from "node:http"
import { DemoModel } from "../DemoModel.ts"
import * as Http from "../http.ts"
import { Journal } from "../Journal.ts"
import { Unauthorized, User, Users } from "../Users.ts"
import { drop, events, rest, send } from "./client.ts"

/** Whose run has ended, and how. */
interface Ended extends Handler.RunExit {
  readonly user: string
}

const find = (token: string) =>
  token.startsWith("t-")
    ? Effect.succeed(new User({ name: token.slice(2) }))
    : new Unauthorized({ message: "Nobody has this token." })

/** A service on a free port, whose journal can be read. The token `t-x` is that of user `x`. */
const start = (model: Layer.Layer<ChatModel.ChatModel>) =>
  Effect.gen(function* () {
    const active = yield* SubscriptionRef.make(0)
    const ended = yield* Queue.unbounded<Ended>()
    const context = yield* Layer.build(
      Http.layer(0).pipe(
        Layer.provide([
          model,
          Layer.succeed(Users, { find }),
          Layer.succeed(Journal, { active, ended: ({ name }, end) => Queue.offer(ended, { user: name, ...end }) })
        ])
      )
    )
    const address = yield* Effect.provide(HttpServer.addressWith(Effect.succeed), context)
    if (address._tag !== "TcpAddress") throw new Error("The service has no port.")
    return { active, ended, port: address.port }
  })

const users = Array.from({ length: 200 }, (_, i) => `user-${i}`)
const question = (user: string) => JSON.stringify({ question: `I am ${user}`, instructions: `Only for ${user}` })

/** Everything in a text that says which user it is about. */
const mentioned = (text: string) => [...new Set(text.match(/user-\d+/g))]

it.scoped(
  "of 200 requests at once half are dropped: their runs are cancelled and start nothing more, the others get their own answers",
  () =>
    Effect.gen(function* () {
      const release = yield* Effect.makeLatch()
      const allHeld = yield* Deferred.make<void>()
      // Whom each model call was for, as its instructions say.
      const modelCalls: Array<ReadonlyArray<string>> = []
      const model = ChatModel.layer((request) => {
        const told = Instructions.render(request.instructions)
        return Call.make((emit) =>
          Effect.gen(function* () {
            modelCalls.push(mentioned(told))
            yield* emit({ _tag: "Text", text: "Let me see. " })
            if (modelCalls.length === users.length) yield* Deferred.succeed(allHeld, undefined)
            yield* release.await
            const [call] = request.history.flatMap(Message.toolCalls)
            yield* call === undefined
              ? emit({ _tag: "ToolCall", id: "call", name: "whoami", arguments: {} })
              : emit({ _tag: "Text", text: `${Message.renderOutcome(call.outcome)} ${told}` })
          })
        )
      })
      const { active, ended, port } = yield* start(model)

      const responses = yield* Effect.forEach(
        users,
        (user) => send(port, { token: `t-${user}`, body: question(user) }),
        { concurrency: "unbounded" }
      )
      yield* Deferred.await(allHeld)
      expect(yield* SubscriptionRef.get(active)).toBe(200)
      expect(new Set(modelCalls.flat())).toEqual(new Set(users))

      // Every second client hangs up. The journal hears of each of these runs.
      yield* Effect.forEach(responses, (response, i) => (i % 2 === 1 ? drop(response) : Effect.void))
      yield* Journal.until(active, 100)
      const cancelled = Array.from(yield* Queue.takeAll(ended))
      expect(cancelled).toHaveLength(100)
      expect(new Set(cancelled.map(({ user }) => user))).toEqual(new Set(users.filter((_, i) => i % 2 === 1)))
      expect(cancelled.every(({ exit, history }) => Exit.isInterrupted(exit) && History.isPaired(history))).toBe(true)
      const health = yield* Effect.flatMap(send(port, { method: "GET", path: "/health" }), rest)
      expect(JSON.parse(health)).toEqual({ status: "ok", activeRuns: 100 })

      // The others go on.
      yield* release.open
      const answers = yield* Effect.forEach(
        responses.flatMap((response, i) => (i % 2 === 0 ? [{ response, user: users[i]! }] : [])),
        ({ response, user }) => Effect.map(rest(response), (text) => ({ text, user })),
        { concurrency: "unbounded" }
      )
      yield* Journal.until(active, 0)
      expect(yield* Queue.size(ended)).toBe(100)

      for (const { text, user } of answers) {
        expect(mentioned(text)).toEqual([user])
        const all = events(text)
        expect(all[0]).toEqual({ _tag: "RunStarted", agent: "concierge" })
        expect(all.find((event) => event._tag === "ToolFinished")).toMatchObject({ outcome: Message.succeeded(user) })
        expect(all.at(-1)).toMatchObject({
          _tag: "Completed",
          result: {
            text: `Let me see. ${user} You are the concierge.\n\nOnly for ${user}\n\nYou are speaking with ${user}.`
          }
        })
      }
      // One model call of each dropped run, two of each other one; each saw its own user alone.
      const calls = (user: string) => modelCalls.filter(([first]) => first === user).length
      expect(modelCalls.every((seen) => seen.length === 1)).toBe(true)
      expect(users.map(calls)).toEqual(users.map((_, i) => (i % 2 === 0 ? 2 : 1)))
    }),
  30_000
)

it.scoped("a slow reader holds its own run back, and loses nothing", () =>
  Effect.gen(function* () {
    const parts = 4_000
    const size = 8 * 1024
    const emitted = { slow: 0, fast: 0 }
    const done = { slow: yield* Deferred.make<void>(), fast: yield* Deferred.make<void>() }
    const model = ChatModel.layer((request) => {
      const who = ChatModel.question(request) as "slow" | "fast"
      return Call.make((emit) =>
        Effect.gen(function* () {
          for (let i = 0; i < parts; i++) {
            yield* emit({ _tag: "Text", text: "x".repeat(size) })
            emitted[who]++
          }
          yield* Deferred.succeed(done[who], undefined)
          yield* Effect.never
        })
      )
    })
    const { active, ended, port } = yield* start(model)
    const ask = (question: string) => send(port, { token: "t-a", body: JSON.stringify({ question }) })

    const slow = yield* ask("slow") // and does not read
    const fast = yield* ask("fast")
    fast.resume()
    yield* Deferred.await(done.fast)
    expect(emitted.slow).toBeLessThan(parts)

    const received: Array<Buffer> = []
    slow.on("data", (chunk: Buffer) => received.push(chunk))
    yield* Deferred.await(done.slow)
    const all = parts * size
    while (received.reduce((sum, chunk) => sum + chunk.length, 0) < all) yield* Effect.promise(() => once(slow, "data"))

    yield* Effect.all([drop(slow), drop(fast)])
    yield* Journal.until(active, 0)
    expect(yield* Queue.size(ended)).toBe(2)
  })
)

it.effect("a service that is shut down cancels its runs and waits until they have been left", () =>
  Effect.gen(function* () {
    const ended = yield* Effect.scoped(
      Effect.gen(function* () {
        const { ended, port } = yield* start(ChatModel.layer(() => Call.fromEffect(Effect.never)))
        const response = yield* send(port, { token: "t-a", body: `{"question":"Hi"}` })
        response.on("error", () => {})
        return ended
      })
    )
    const left = Array.from(yield* Queue.takeAll(ended))
    expect(left.map(({ exit }) => Exit.isInterrupted(exit))).toEqual([true])
  })
)

describe("requests that get no run", () => {
  const refused = [
    ["no user", { body: "{}" }, 401],
    ["a token that nobody has", { token: "x", body: "{}" }, 401],
    ["a body that is no JSON", { token: "t-a", body: "{question:" }, 400],
    ["no body", { token: "t-a" }, 400],
    ["JSON that is no object", { token: "t-a", body: "[]" }, 400],
    ["a body without a question", { token: "t-a", body: `{"instructions":"Be brief."}` }, 400],
    ["an empty question", { token: "t-a", body: `{"question":""}` }, 400],
    ["a question that is no text", { token: "t-a", body: `{"question":{"a":1}}` }, 400],
    ["a body that is not UTF-8", { token: "t-a", body: new Uint8Array([0x22, 0xff, 0x22]) }, 400],
    ["a body that is too big", { token: "t-a", body: JSON.stringify({ question: "x".repeat(70_000) }) }, 413],
    [
      "a body in pieces that is too big",
      { token: "t-a", body: Array.from({ length: 70 }, () => "x".repeat(1_000)) },
      413
    ],
    ["another path", { token: "t-a", path: "/run" }, 404],
    ["another method", { token: "t-a", method: "PUT" }, 404]
  ] as const

  for (const [what, message, status] of refused) {
    it.scoped(`${what} gets ${status} and a reason`, () =>
      Effect.gen(function* () {
        const { ended, port } = yield* start(DemoModel)
        const response = yield* send(port, message)
        expect(response.statusCode).toBe(status)
        expect(JSON.parse(yield* rest(response))).toEqual({
          error: { _tag: expect.any(String), message: expect.any(String) }
        })
        expect(yield* Queue.size(ended)).toBe(0)
      })
    )
  }

  it.scoped("a client that goes away before it has sent its body leaves the service as it was", () =>
    Effect.gen(function* () {
      const { active, port } = yield* start(DemoModel)
      const half = request({
        host: "127.0.0.1",
        port,
        path: "/runs",
        method: "POST",
        agent: false,
        headers: { authorization: "Bearer t-a", "content-length": "100" }
      })
      half.on("error", () => {})
      yield* Effect.promise(() => new Promise<void>((resolve) => half.write(`{"question":`, () => resolve())))
      half.destroy()
      const health = yield* Effect.flatMap(send(port, { method: "GET", path: "/health" }), rest)
      expect(JSON.parse(health)).toEqual({ status: "ok", activeRuns: 0 })
      expect(yield* SubscriptionRef.get(active)).toBe(0)
    })
  )
})

describe("runs that fail end their stream with the reason", () => {
  const last = (model: Layer.Layer<ChatModel.ChatModel>) =>
    Effect.gen(function* () {
      const { active, port } = yield* start(model)
      const response = yield* send(port, { token: "t-a", body: `{"question":"Hi"}` })
      expect(response.statusCode).toBe(200)
      const all = events(yield* rest(response))
      yield* Journal.until(active, 0)
      return all.at(-1)
    })

  it.scoped("a declared error by its tag and message", () =>
    Effect.gen(function* () {
      const error = new Errors.ModelError({ reason: "Overloaded", message: "Too many requests." })
      expect(yield* last(ChatModel.layer(() => Call.fail(error)))).toMatchObject({
        _tag: "Failed",
        error: { _tag: "ModelError", message: "Too many requests." }
      })
    })
  )

  it.scoped("a defect without what it says", () =>
    Effect.gen(function* () {
      expect(yield* last(ChatModel.layer(() => Call.die(new Error("password in here"))))).toMatchObject({
        _tag: "Failed",
        error: { _tag: "Defect" }
      })
    })
  )
})
