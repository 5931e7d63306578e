/**
 * The main conversation: a user talks with `host` about a web shop, and about other
 * things. What `host` says is given, so that every run of the example begins alike.
 */
import { Agent, ChatModel } from "@heddle/core"
import { Conversations, Session, Summaries } from "@heddle/memory"
import { Effect } from "effect"
import { host } from "./agents.ts"
import { Notes } from "./seen.ts"

/** The session that all of this belongs to. */
export const session = "conversation-example"

/** What was asked, and what `host` answered. */
const talk: ReadonlyArray<readonly [asked: string, answered: string]> = [
  ["Hello! I am Mara, and we are building a web shop.", "Hello Mara! Tell me what I should keep in mind."],
  ["Our project uses React as its framework for the pages.", "Good, there are many components to choose from."],
  ["Tech stack: Node 22 on the server, Postgres 17 for the orders.", "Then the tests need a Postgres, too."],
  ["What is there for lunch?", "The canteen has soup."],
  ["The launch is on March 14.", "So the code is frozen on March 7, a week before."],
  ["Ben writes the checkout, and Iris designs it.", "I will ask Ben about payments, then."],
  ["It is raining again.", "Take an umbrella with you."],
  ["We deliver to Italy and Austria at first.", "Prices in euros are enough, then."],
  ["Our customers pay by card, or on delivery up to 200 euros.", "Both are easy to add to the checkout."],
  ["Did anybody water the plants?", "That is nothing that I could know."],
  ["Our project uses pnpm, and one repository for all of it.", "That keeps the versions together."],
  ["The budget is 40,000 euros.", "A quarter of it should be left for the time after the launch."]
]

const answers = new Map(talk)

const script = ChatModel.layer((request) => ChatModel.reply(answers.get(ChatModel.question(request)) ?? ""))

/** Has the conversation, as far as the store does not have it yet, and waits for its summary. Gives the exchanges that were there before. */
export const begin = Effect.gen(function* () {
  const conversations = yield* Conversations.Conversations
  const summaries = yield* Summaries.Summaries
  const { info } = yield* conversations.read(Conversations.main(session), { last: 0 })
  const before = info?.exchanges ?? 0
  for (const [asked] of talk.slice(before)) yield* Agent.run(host, asked)
  yield* summaries.settled
  return before
}).pipe(Effect.provide(script), Effect.provideService(Notes, []), Session.within(session))
