/**
 * An agent for each context mode, all with the same instructions, and `host`, whose
 * conversation with the user is the main one.
 */
import { Agent, Pipeline, Tools } from "@heddle/core"
import { ContextMode, Memory } from "@heddle/memory"
import { noting } from "./seen.ts"

const agentIn = (mode: ContextMode.ContextMode) =>
  Agent.make({
    name: mode._tag,
    description: "Answers a question about the project.",
    instructions: "You answer questions about a project.",
    // Behind the memory, so that it sees what the model is shown.
    handlers: Pipeline.make(Memory.handler({ mode, settings: { strategy: "full" } }), noting(mode._tag))
  })

const fork = agentIn(ContextMode.fork())

/** One for each mode, called by its name; those that add nothing to the main conversation first. */
export const agents = {
  isolated: agentIn(ContextMode.isolated()),
  selective: agentIn(ContextMode.selective(["project uses *", "tech stack: *"])),
  summarized: agentIn(ContextMode.summarized({ after: 24, window: { exchanges: 3 } })),
  fork,
  shared: agentIn(ContextMode.shared()),
  hybrid: agentIn(ContextMode.hybrid())
}

/**
 * The agent that the user talks with. Its memory has a summary written when there are
 * 24 messages, of all but the last three exchanges.
 */
export const host = Agent.make({
  name: "host",
  instructions: "You help with a project.",
  tools: Tools.make(Agent.asTool(fork)),
  handlers: Memory.handler({
    mode: ContextMode.shared({ toolCalls: true }),
    settings: { strategy: "full", summaryEnabled: true, summaryTrigger: 24, historyLimit: 3 }
  })
})
