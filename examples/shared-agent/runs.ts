/**
 * One agent, any number of runs at once, each with its own instructions. The
 * agent is a value that nobody can change, so there is nothing to restore when
 * a run ends and nothing to lock.
 */
import { Agent, type AgentRun, Call, ChatModel, Instructions, Message, Tool, Tools } from "@heddle/core"
import { Effect, Layer } from "effect"

/** What a tool sees of the instructions of its run. */
const whoami = Tool.make({
  name: "whoami",
  description: "Who the user is.",
  execute: () => Effect.map(Instructions.current, Instructions.render)
})

export const agent = Agent.make({ name: "shared", instructions: "You help.", tools: Tools.make(whoami) })

/** What the instructions of a run are to be. */
export const expected = (user: number) => `You help.\n\nThe user is number ${user}.`

/** Runs the shared agent for one user. */
export const runFor = (user: number) =>
  Agent.run(agent, "Who am I?").pipe(Instructions.scoped(Instructions.append(`The user is number ${user}.`)))

/** A run is right when its tool and its model saw its own instructions, and no others. */
const isRight = (user: number, { history, text }: AgentRun.AgentResult) => {
  const [call] = history.flatMap(Message.toolCalls)
  return call !== undefined && Message.renderOutcome(call.outcome) === expected(user) && text === expected(user)
}

/** Runs the agent for `users` users, all at once, and counts the runs that saw wrong instructions. */
export const countWrong = (users: number) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: users }, (_, user) => user),
      (user) => Effect.map(runFor(user), (result) => isRight(user, result)),
      { concurrency: "unbounded" }
    ),
    (right) => right.filter((yes) => !yes).length
  )

/** Stands in for a model: it calls the tool, then answers with the instructions that it was given. */
const reply = (request: ChatModel.ModelRequest) =>
  request.history.at(-1)?.role === "user"
    ? ChatModel.reply([Message.toolCall("call", "whoami", {})])
    : ChatModel.reply(Instructions.render(request.instructions))

/** The model answers nobody until `users` runs have asked, so that all of them are under way together. */
export const modelFor = (users: number) =>
  Layer.effect(
    ChatModel.ChatModel,
    Effect.map(Effect.makeLatch(), (all) => {
      let asked = 0
      return {
        call: (request) =>
          Call.unwrap(Effect.suspend(() => (++asked < users ? all.await : all.open)).pipe(Effect.as(reply(request))))
      }
    })
  )
