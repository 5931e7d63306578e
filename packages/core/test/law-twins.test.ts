/**
 * For each law a handler or a way of composing that breaks it, in the way that
 * such things are broken elsewhere. A law that lets its twin pass says nothing.
 */
import { Call, ChatModel, Errors, Handler, History, Instructions, Message, Pipeline } from "@heddle/core"
import { Law } from "@heddle/testing"
import { Effect, Fiber, Layer } from "effect"
import { describe, expect, it } from "vitest"

type Twin = readonly [law: Law.Law, what: string, handler: Handler.Any, compose?: Law.Subject["compose"]]

const forward = Handler.wrapModelCall((request, next) => next(request), "forward")

/** State in a closure, shared by all runs. */
const leaky = () => {
  let seen: string = ""
  return Handler.wrapModelCall((request, next) => {
    const before = seen
    seen = Instructions.render(request.instructions).replace(before, "")
    return next({ ...request, instructions: Instructions.append(request.instructions, before, "leak") })
  }, "leaky")
}

const counting = () => {
  let calls = 0
  return Handler.wrapModelCall(
    (request, next) =>
      Call.map(next(request), (part) => (part._tag === "Text" ? { ...part, text: `${part.text} (${++calls})` } : part)),
    "counting"
  )
}

const mutating = Handler.wrapModelCall((request, next) => {
  // A handler in JavaScript may do this, whatever the types say.
  const history = request.history as Array<Message.Message>
  history.push(Message.user("by the way"))
  return next(request)
}, "mutating")

const swallowing = Handler.beforeModel((history) => history, "swallowing").pipe(() =>
  Handler.wrapModelCall(
    (request, next) =>
      Call.fromEffect(
        Effect.catchAllCause(ChatModel.run(next(request)), () => Effect.succeed(ChatModel.replyValue("never mind")))
      ),
    "swallowing"
  )
)

const detaching = Handler.wrapModelCall(
  (request, next) =>
    Call.fromEffect(
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.forkDaemon(restore(ChatModel.run(next(request)))), (fiber) => restore(Fiber.join(fiber)))
      )
    ),
  "detaching"
)

const stubborn = Handler.wrapModelCall(
  (request, next) =>
    Call.around(next(request), (effect) =>
      Effect.onInterrupt(effect, () => Effect.forkDaemon(Effect.delay(ChatModel.run(next(request)), "1 second")))
    ),
  "stubborn"
)

const reopening = Handler.wrapModelCall(
  (request, next) =>
    next({
      ...request,
      history: History.mapToolCalls(request.history, (call) => ({ ...call, outcome: Message.pending }))
    }),
  "reopening"
)

const perChunk = Handler.wrapModelCall(
  (request, next) =>
    Call.map(next(request), (part) =>
      part._tag === "Text" ? { ...part, text: part.text.replaceAll("e", "eh!").replaceAll("wo", "W") } : part
    ),
  "perChunk"
)

const silentRetry = Handler.wrapModelCall(
  (request, next) =>
    Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, Handler.Upstream, never>((sink) =>
      Effect.catchAll(Call.into(next(request), sink), () => Call.into(next(request), sink))
    ),
  "silentRetry"
)

/** Summarizes what is old with a call of its own, and does something else where that fails. */
const compacting = (
  failed: (history: History.History) => Handler.OrEffect<History.History, Errors.ModelError, never>
) =>
  Handler.beforeModel((history) => {
    if (history.length < 3) return history
    const request = ChatModel.request({ history, purpose: "summary" })
    const summary = Effect.flatMap(ChatModel.ChatModel, (model) => ChatModel.run(model.call(request)))
    return Effect.matchEffect(summary, {
      onSuccess: ({ content }) => Effect.succeed([Message.assistant(content), ...history.slice(-1)]),
      onFailure: () => {
        const left = failed(history)
        return Effect.isEffect(left) ? left : Effect.succeed(left)
      }
    })
  }, "compacting")

const reversed: Law.Subject["compose"] = (...handlers) => Pipeline.make(...handlers.toReversed())

/** Puts the first of three or more at the end. */
const rotating: Law.Subject["compose"] = (first = Pipeline.empty, ...rest) =>
  rest.length < 2 ? Pipeline.make(first, ...rest) : Pipeline.make(...rest, first)

/** Adds a section for each group that it is asked to make. */
const grouping: Law.Subject["compose"] = (...handlers) =>
  Pipeline.make(...handlers, Handler.instructions("a group", "group"))

const twins: ReadonlyArray<Twin> = [
  [Law.identityLaw, "composition that adds something of its own", forward, grouping],
  [Law.associativity, "composition that moves handlers about in large groups", forward, rotating],
  [Law.order, "composition that reverses", forward, reversed],
  [Law.finalizer, "a handler that runs next in a fiber of its own", detaching],
  [Law.position, "a handler that swallows every way out of next", swallowing],
  [Law.isolationOfAttempts, "a handler that keeps the request before in a closure", leaky()],
  [Law.discard, "a handler that counts in a closure", counting()],
  [Law.noAliasing, "a handler that changes the history in place", mutating],
  [Law.isolationOfRuns, "a handler that counts in a closure", counting()],
  [Law.pairing, "a handler that takes outcomes back", reopening],
  [Law.streamParity, "a handler that replaces within each chunk", perChunk],
  [Law.attempts, "a handler that calls again without a reset", silentRetry],
  [Law.quietAfterCancel, "a handler that calls again when interrupted", stubborn],
  [Law.safeFailure, "a compactor that forgets what it could not summarize", compacting((history) => history.slice(-1))],
  [Law.scope, "a handler that keeps instructions in a closure", leaky()]
]

describe("each law catches its broken twin", () => {
  for (const [law, what, handler, compose] of twins) {
    it(`law ${law.number} catches ${what}`, async () => {
      const subject = Law.subject(handler, undefined, compose)
      await expect(Law.checkSubject(law, subject, { runs: 200 })).rejects.toThrow(`Law ${law.number},`)
    })
  }
  it("there is a twin for every law", () => {
    expect(twins.map(([law]) => law.number)).toEqual(Law.laws.map((law) => law.number))
  })
})

describe("a compactor that is let down keeps law 14", () => {
  const kept: ReadonlyArray<readonly [string, ReturnType<typeof compacting>]> = [
    ["when it leaves the history as it is", compacting((history) => history)],
    [
      "when it fails the run",
      compacting(() => Effect.fail(new Errors.ModelError({ reason: "Unknown", message: "no summary" })))
    ]
  ]
  for (const [what, handler] of kept) {
    it(what, () => Law.checkSubject(Law.safeFailure, Law.subject(handler), { runs: 200 }))
  }
})

describe("twins of another kind are caught, too", () => {
  it("law 5 catches a handler that finishes with an answer of its own in place of another's", async () => {
    const usurping = Handler.wrapModelCall(
      (request, next) =>
        Call.fromEffect(Effect.catchAllCause(ChatModel.run(next(request)), () => Handler.finish("never mind"))),
      "usurping"
    )
    await expect(Law.check(Law.position, usurping, { runs: 200 })).rejects.toThrow('but ["never mind"')
  })

  it("law 5 catches a handler that is content with the parts and misses a finish behind them", async () => {
    const content = Handler.wrapModelCall(
      (request, next) =>
        Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, Handler.Upstream, never>((sink) => {
          let complete = false
          const inner = Call.sink<ChatModel.ModelPart, ChatModel.ModelReply>(sink.fold, "parts", (part) => {
            complete = part._tag === "Finish"
            return sink.emit(part)
          })
          return Effect.catchAllCause(Call.into(next(request), inner), (cause) =>
            complete ? Effect.void : Effect.failCause(cause)
          )
        }),
      "content"
    )
    await expect(Law.check(Law.position, content, { runs: 200 })).rejects.toThrow("went on after a finish")
  })

  it("law 12 catches a handler that answers in place of a failure without a reset", async () => {
    const patching = Handler.wrapModelCall(
      (request, next) =>
        Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, Handler.Upstream, never>((sink) =>
          Effect.catchAll(Call.into(next(request), sink), () => Call.into(ChatModel.reply("sorry"), sink))
        ),
      "patching"
    )
    await expect(Law.check(Law.attempts, patching)).rejects.toThrow("abandoned")
  })

  class Shared extends Handler.Tag("Shared")<Shared>() {
    static readonly Live = Layer.sync(Shared, () => {
      let before = ""
      return {
        beforeAgent: (run) => {
          const instructions = Instructions.append(run.instructions, before, "before")
          before = Instructions.render(run.instructions)
          return { ...run, instructions }
        }
      }
    })
  }
  for (const law of [Law.isolationOfRuns, Law.scope]) {
    it(`law ${law.number} catches a handler of the application that shows a run what another was told`, async () => {
      await expect(Law.checkWith(law, Shared, Shared.Live)).rejects.toThrow(`Law ${law.number},`)
    })
  }

  it("law 16 catches a handler that drops what was scoped", async () => {
    const dropping = Handler.mapInstructions(Instructions.remove("scoped"), "dropping")
    await expect(Law.check(Law.scope, dropping)).rejects.toThrow("did not see it in request 1: Base.")
  })

  it("law 16 catches a handler that tells the model the agent's own words alone when it is asked again", async () => {
    const forgetting = Handler.wrapModelCall((request, next) => {
      const own = request.instructions.sections.filter((section) => section.source === "subject")
      const again = request.history.at(-1)?.role === "assistant"
      return next(again ? { ...request, instructions: Instructions.fromSections(own) } : request)
    }, "forgetting")
    await expect(Law.check(Law.scope, forgetting, { runs: 200 })).rejects.toThrow(/did not see it in request [2-9]/)
  })

  it("a handler that cannot be interrupted is refused, and holds nobody up", async () => {
    const stuck = Handler.wrapModelCall((request, next) => Call.around(next(request), Effect.uninterruptible), "stuck")
    await expect(Law.check(Law.quietAfterCancel, stuck)).rejects.toThrow("could not be interrupted")
  })
})
