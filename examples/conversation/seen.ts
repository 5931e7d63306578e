/**
 * What a model call was really shown of the conversations, read off its request.
 *
 * A message that the store gives is one object all the way to the model, so a request
 * tells which exchange each of its messages is from, also where two of them say the
 * same.
 */
import { Call, type ChatModel, Handler, type Message } from "@heddle/core"
import { ContextSection, Conversations } from "@heddle/memory"
import { Context, Effect, Layer } from "effect"

/** The exchanges that a request shows, by their positions. */
export interface Seen {
  readonly main: ReadonlyArray<number>
  readonly own: ReadonlyArray<number>
  /** Messages of no kept exchange before the question: those of the exchange that is going on around it. */
  readonly goingOn: number
  readonly summary: boolean
}

interface Origin {
  readonly conversation: "main" | "own"
  readonly position: number
}

const origins = new WeakMap<Message.Message, Origin>()

const tracing = (store: Conversations.Service): Conversations.Service => ({
  ...store,
  read: (key, range) =>
    Effect.tap(store.read(key, range), ({ exchanges }) => {
      const conversation = key.agent === undefined ? "main" : "own"
      for (const { messages, position } of exchanges) {
        for (const message of messages) origins.set(message, { conversation, position })
      }
    })
})

/** The same store, which knows again what was read from it. */
export const traced = Layer.effect(Conversations.Conversations, Effect.map(Conversations.Conversations, tracing))

/** What is shown in a request. */
export const seen = ({ history, instructions }: ChatModel.ModelRequest): Seen => {
  const before = history.slice(
    0,
    history.findLastIndex(({ role }) => role === "user")
  )
  const found = before.map((message) => origins.get(message))
  const of = (conversation: Origin["conversation"]) =>
    Array.from(new Set(found.flatMap((origin) => (origin?.conversation === conversation ? [origin.position] : []))))
  return {
    main: of("main"),
    own: of("own"),
    goingOn: found.filter((origin) => origin === undefined).length,
    summary: instructions.sections.some(({ source }) => source === ContextSection.summarySource)
  }
}

/** The requests of a run and of those inside of it. */
export class Notes extends Context.Tag("Notes")<
  Notes,
  Array<{ readonly agent: string; readonly request: ChatModel.ModelRequest }>
>() {}

/** Notes what the model is asked. */
export const noting = (agent: string) =>
  Handler.make("noting", {
    wrapModelCall: (request, next) =>
      Call.unwrap(
        Effect.map(Notes, (notes) => {
          notes.push({ agent, request })
          return next(request)
        })
      )
  })
