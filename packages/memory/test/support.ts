/** What several of these tests need. */
import { Agent, type ChatModel, type History, Message, Tool, Tools } from "@heddle/core"
import { ContextSection, Conversations, Memory, Session, Summaries } from "@heddle/memory"
import { ScriptedModel } from "@heddle/testing"
import { Effect, Layer } from "effect"

/** Texts of messages, with the calls of tools in brackets. */
export const texts = (history: History.History): ReadonlyArray<string> =>
  history.map((message) =>
    [
      ...Message.toolCalls(message).map(({ name, outcome }) => `[${name}: ${outcome._tag}]`),
      ...(Message.text(message) === "" ? [] : [Message.text(message)])
    ].join(" ")
  )

/** The exchanges of a conversation as texts. */
export const kept = (key: Conversations.ConversationKey) =>
  Effect.flatMap(Conversations.Conversations, (store) =>
    Effect.map(store.read(key), ({ exchanges }) => exchanges.map(({ messages }) => texts(messages)))
  )

/** Adds exchanges of a question and an answer each. */
export const talked = (key: Conversations.ConversationKey, ...questions: ReadonlyArray<string>) =>
  Effect.flatMap(Conversations.Conversations, (store) =>
    Effect.forEach(
      questions,
      (text) => store.append(key, { agent: "main", messages: [Message.user(text), Message.assistant(`re: ${text}`)] }),
      { discard: true }
    )
  )

/** The section of a request with a source. */
export const section = (request: ChatModel.ModelRequest, source: string = ContextSection.source) =>
  request.instructions.sections.filter((section) => section.source === source).map(({ text }) => text)

/** Answers `re: …`; asks for the tool `note` first where the question says so. */
export const answers: ScriptedModel.Script = ({ history, tools }) => {
  const last = history.at(-1)!
  const asked = Message.text(history.findLast(({ role }) => role === "user")!)
  return last.role === "user" && asked.includes("note it") && tools.get("note") !== undefined
    ? { text: "one moment", calls: [{ tool: "note" }] }
    : `re: ${asked}`
}

/** A tool that does nothing. */
export const note = Tool.make({ name: "note", description: "Notes it.", execute: () => "noted" })

/** An agent with a memory. */
export const agentNamed = (name: string, options?: Memory.Options) =>
  Agent.make({ name, instructions: `You are ${name}.`, tools: Tools.make(note), handlers: Memory.handler(options) })

/** A scripted model with a memory in a store. */
export const world = <E>(
  script: ScriptedModel.Script = answers,
  store: Layer.Layer<Conversations.Conversations, E> = Conversations.layerMemory(),
  summaries?: Summaries.Options
) =>
  Effect.map(ScriptedModel.make(script), (model) => ({
    /** What the model was asked by agents. */
    asked: Effect.map(model.requests, (all) => all.filter(({ purpose }) => purpose === "agent")),
    requests: model.requests,
    layer: Summaries.layer(summaries).pipe(Layer.provideMerge(store), Layer.provideMerge(model.layer))
  }))

/** What the model was shown last. */
export const lastSeen = (requests: ReadonlyArray<ChatModel.ModelRequest>) => texts(requests.at(-1)!.history)

/** Runs in a session, with the services of a world. */
export const inWorld =
  <ROut, E2>(world: { readonly layer: Layer.Layer<ROut, E2> }, session: string | Session.Options = "s") =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Session.within(session), Effect.provide(world.layer))
