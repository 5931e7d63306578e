import { conversations } from "@heddle/memory/testing"
import { SqlConversations, SqlHistoryStore } from "@heddle/sql"
import { historyStore } from "@heddle/workflow/testing"
import { Layer } from "effect"
import { describe } from "vitest"
import { hasServer, ownClient, url } from "./support/postgres.ts"

const there = await hasServer()
if (!there) console.warn(`Not tested: Postgres, since no server answers at ${new URL(url).host}.`)

describe.skipIf(!there)("on Postgres", () => {
  conversations("conversations keep the rules", Layer.provide(SqlConversations.layer, ownClient))
  historyStore("the history keeps the rules", Layer.provide(SqlHistoryStore.layer, ownClient))
})
