import { Conversations } from "@heddle/memory"
import { conversations } from "@heddle/memory/testing"

conversations("the store in memory keeps the rules", Conversations.layerMemory())
conversations(
  "the store in memory keeps the rules within a tight bound",
  Conversations.layerMemory({ maxConversations: 100 })
)
