import { describe, expect, it } from "@effect/vitest"
import { Agent, AgentEvent, Call, ChatModel, Handler, History, Message, Pipeline } from "@heddle/core"
import { ContextMode, Conversations, Memory, MemoryErrors } from "@heddle/memory"
import { Chunk, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { agentNamed, inWorld, kept, talked, texts, world } from "./support.ts"

const own = Conversations.own("s", "coder")

/** A store in memory in which some operations do something else. */
const storeWith = (change: (store: Conversations.Service) => Partial<Conversations.Service>) =>
  Layer.effect(
    Conversations.Conversations,
    Effect.map(Conversations.Conversations, (store) => ({ ...store, ...change(store) }))
  ).pipe(Layer.provide(Conversations.layerMemory()))

const down = (operation: MemoryErrors.ConversationsUnavailable["operation"]) =>
  new MemoryErrors.ConversationsUnavailable({ operation, key: own, cause: new Error("no disk") })

describe("a store that is down", () => {
  it.effect("fails the run before the model is asked, with an error that says what and where", () =>
    Effect.gen(function* () {
      const w = yield* world(
        undefined,
        storeWith(() => ({ read: () => Effect.fail(down("read")) }))
      )
      for (const mode of ["isolated", "shared", "hybrid", "summarized", "fork"] as const) {
        const error = yield* Effect.flip(inWorld(w)(Agent.run(agentNamed("coder", { mode }), "now")))
        expect(error).toEqual(down("read"))
      }
      expect(down("read").message).toBe(
        'The conversations are unavailable for agent "coder" in session "s" of tenant "default" (read): no disk'
      )
      expect(yield* w.requests).toEqual([])
    })
  )

  it.effect("when the answer is there, costs a warning and not the answer, run or streamed", () =>
    Effect.gen(function* () {
      const defect = new Error("a bug in the store")
      for (const [append, error] of [
        [Effect.fail(down("append")), down("append")],
        [Effect.die(defect), defect]
      ] as const) {
        const w = yield* world(
          undefined,
          storeWith(() => ({ append: () => append }))
        )
        const agent = agentNamed("coder")
        const result = yield* inWorld(w)(Agent.run(agent, "now"))
        expect(result.text).toBe("re: now")
        expect(result.warnings).toEqual([{ handler: "memory", error }])
        const events = yield* inWorld(w)(Stream.runCollect(Agent.stream(agent, "now")))
        const last = Chunk.toReadonlyArray(events).slice(-2)
        expect(last[0]).toEqual({ _tag: "Warning", handler: "memory", error })
        expect(last[1]).toMatchObject({ _tag: "Completed", result: { text: "re: now", warnings: [{ error }] } })
      }
    })
  )

  it.effect("for the report of a hybrid run only, keeps the exchange all the same", () =>
    Effect.gen(function* () {
      const w = yield* world(
        undefined,
        storeWith((store) => ({
          append: (key, exchange) =>
            key.agent === undefined ? Effect.fail(down("append")) : store.append(key, exchange)
        }))
      )
      yield* inWorld(w)(
        Effect.gen(function* () {
          const result = yield* Agent.run(agentNamed("coder", { mode: "hybrid" }), "now")
          expect(result.warnings).toEqual([{ handler: "memory", error: down("append") }])
          expect(yield* kept(own)).toEqual([["now", "re: now"]])
        })
      )
    })
  )

  it.effect("that takes long can be interrupted", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const w = yield* world(
        undefined,
        storeWith(() => ({ append: () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never) }))
      )
      const fiber = yield* Effect.fork(inWorld(w)(Agent.run(agentNamed("coder"), "now")))
      yield* Deferred.await(begun)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
    })
  )
})

describe("a conversation that begins anew while it is read in pages", () => {
  it.effect("is not mixed with the one before", () =>
    Effect.gen(function* () {
      let reads = 0
      const w = yield* world(
        undefined,
        storeWith((store) => ({
          read: (key, range) =>
            key.agent === undefined && ++reads === 2
              ? Effect.zipRight(store.clear(key), Effect.zipRight(refill(store, key), store.read(key, range)))
              : store.read(key, range)
        }))
      )
      const refill = (store: Conversations.Service, key: Conversations.ConversationKey) =>
        Effect.forEach(
          Array.from({ length: 120 }, (_, i) => `new ${i}`),
          (text) => store.append(key, { agent: "main", messages: [Message.user(text)] }),
          { discard: true }
        )
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(Conversations.main("s"), ...Array.from({ length: 120 }, (_, i) => `old ${i}`))
          const mode = ContextMode.selective(["*"], { window: { exchanges: 1000 } })
          yield* Agent.run(agentNamed("coder", { mode }), "now")
          const seen = texts((yield* w.asked)[0]!.history)
          expect(seen.filter((text) => text.startsWith("old")).length).toBe(100)
          expect(seen.filter((text) => text.startsWith("new"))).toEqual([])
        })
      )
    })
  )
})

describe("what is kept", () => {
  it.effect("of a run that fails or is interrupted, nothing", () =>
    Effect.gen(function* () {
      const w = yield* world([])
      yield* inWorld(w)(
        Effect.gen(function* () {
          expect((yield* Effect.flip(Agent.run(agentNamed("coder"), "now")))._tag).toBe("ModelError")
          expect(yield* kept(own)).toEqual([])
        })
      )
    })
  )

  it.effect("of a run that another handler begins again, the attempt that ended well", () =>
    Effect.gen(function* () {
      const w = yield* world(["no", "yes"])
      const again = Handler.wrapAgent((run, next) =>
        Call.retry(
          AgentEvent.warnAfter(next(run), ({ text }) =>
            text === "no" ? Effect.fail("again" as const) : Effect.succeed([])
          ),
          { times: 1 }
        )
      )
      const agent = Agent.make({ name: "coder", handlers: Pipeline.make(Memory.handler(), again) })
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* Agent.run(agent, "now")
          expect(yield* kept(own)).toEqual([["now", "yes"]])
        })
      )
    })
  )

  it.effect("are the messages of the run, whatever handlers make of the history", () =>
    Effect.gen(function* () {
      const changed = (message: Message.Message): Message.Message => ({ ...message, metadata: { seen: true } })
      const handlers: ReadonlyArray<Handler.Handler> = [
        Handler.beforeModel((history) => History.takeLast(history, 1)),
        Handler.beforeModel((history) => history.map(changed)),
        Handler.beforeModel((history) => History.takeLast(history, 1).map(changed)),
        Handler.afterModel((history) => history.map(changed)),
        Handler.beforeAgent((run) => ({ ...run, input: Message.user("now") })),
        Handler.beforeAgent((run) => ({ ...run, history: [] }))
      ]
      for (const inner of handlers) {
        const w = yield* world()
        yield* inWorld(w)(
          Effect.gen(function* () {
            yield* talked(own, "a", "b", "c")
            const agent = Agent.make({ name: "coder", handlers: Pipeline.make(Memory.handler(), inner) })
            yield* Agent.run(agent, "now")
            expect((yield* kept(own)).at(-1)).toEqual(["now", "re: now"])
          })
        )
      }
    })
  )

  it.effect("are all messages of the run, also where a handler adds one of the user", () =>
    Effect.gen(function* () {
      const w = yield* world(["first", "second"])
      const urge = Handler.afterModel((history) =>
        history.length < 6
          ? [...history.map((message) => ({ ...message })), Message.user("go on")]
          : history.map((message) => ({ ...message }))
      )
      const agent = Agent.make({ name: "coder", handlers: Pipeline.make(Memory.handler(), urge) })
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, "a")
          yield* Agent.run(agent, "now")
          expect((yield* kept(own)).at(-1)).toEqual(["now", "first", "go on", "second"])
        })
      )
    })
  )

  it.effect("of a run whose history a handler has emptied, question and answer", () =>
    Effect.gen(function* () {
      const w = yield* world(() => "yes")
      const empty = Handler.afterModel((history) => history.slice(-1))
      const agent = Agent.make({ name: "coder", handlers: Pipeline.make(Memory.handler(), empty) })
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* Agent.run(agent, "now")
          expect(yield* kept(own)).toEqual([["now", "yes"]])
        })
      )
    })
  )

  it.effect("what the caller says was said before is shown, and not kept", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, "a")
          yield* Agent.run(agentNamed("coder"), "now", { history: [Message.user("before"), Message.assistant("yes")] })
          expect(texts((yield* w.asked)[0]!.history)).toEqual(["a", "re: a", "before", "yes", "now"])
          expect(yield* kept(own)).toEqual([
            ["a", "re: a"],
            ["now", "re: now"]
          ])
        })
      )
    })
  )

  it.effect("files and thoughts are kept as they are", () =>
    Effect.gen(function* () {
      const model = ChatModel.layer(() =>
        ChatModel.reply([
          { _tag: "Reasoning", text: "hm", metadata: { signature: "abc" } },
          { _tag: "Text", text: "a cat" }
        ])
      )
      const w = yield* world()
      const asked = Message.user([{ _tag: "File", mediaType: "image/png", data: "QUJD" }])
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* Effect.provide(Agent.run(agentNamed("coder"), asked), model)
          const store = yield* Conversations.Conversations
          expect((yield* store.read(own)).exchanges[0]?.messages).toEqual([
            asked,
            Message.assistant([
              { _tag: "Reasoning", text: "hm", metadata: { signature: "abc" } },
              { _tag: "Text", text: "a cat" }
            ])
          ])
        })
      )
    })
  )
})

describe("at once", () => {
  it.effect("1,000 calls on one shared conversation: nothing is lost, nothing is torn, one order", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          const main = Conversations.main("s")
          const agents = Array.from({ length: 10 }, (_, i) => agentNamed(`agent ${i}`, { mode: "shared" }))
          const questions = Array.from({ length: 1000 }, (_, i) => `q${i}`)
          yield* Effect.forEach(questions, (question, i) => Agent.run(agents[i % 10]!, question), {
            concurrency: "unbounded",
            discard: true
          })
          const all = yield* kept(main)
          for (const [question, answer, ...rest] of all) {
            expect(answer).toBe(`re: ${question}`)
            expect(rest).toEqual([])
          }
          expect(all.map(([question]) => question).toSorted()).toEqual(questions.toSorted())
          expect(yield* kept(main)).toEqual(all)
          const store = yield* Conversations.Conversations
          const { exchanges, info } = yield* store.read(main)
          expect(exchanges.map(({ position }) => position)).toEqual(questions.map((_, i) => i + 1))
          expect(info).toMatchObject({ exchanges: 1000, messages: 2000 })
        })
      )
    })
  )
})
