import { Conversations, MemoryErrors } from "@heddle/memory"
import { expect, it } from "vitest"

const { ConversationChanged, ConversationsUnavailable } = MemoryErrors
const { main, own } = Conversations

it("an error says which operation on which conversation it was, and why", () => {
  const key = own("s", "helper")
  expect(new ConversationsUnavailable({ operation: "append", key, cause: new Error("disk full") }).message).toBe(
    'The conversations are unavailable for agent "helper" in session "s" of tenant "default" (append): disk full'
  )
  expect(new ConversationsUnavailable({ operation: "list", cause: "gone" }).message).toBe(
    "The conversations are unavailable (list): gone"
  )
  expect(new ConversationChanged({ key: main("s") }).message).toBe(
    'The conversation of session "s" of tenant "default" has changed since it was read.'
  )
})

it("a cause that cannot be read is no other error", () => {
  const { message } = new ConversationsUnavailable({ operation: "list", cause: Object.create(null) })
  expect(message).toContain("no reason given")
})
