/** The agent that comes with the command. */
import type { AgentFile } from "../../AgentFile.ts"

/** Answers in a chat what is said to nobody else. A file of this name takes its place. */
export const assistant: AgentFile = {
  name: "assistant",
  path: "(built-in)",
  scope: "built-in",
  head: {
    title: "Assistant",
    description: "Answers in a chat what is said to nobody else.",
    contextMode: "shared",
    shareToolCalls: true
  },
  body: "You help the user with what they ask. Be brief, and say so when you do not know."
}
