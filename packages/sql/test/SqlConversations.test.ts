import { LibsqlClient } from "@effect/sql-libsql"
import { describe } from "@effect/vitest"
import { conversations, conversationsAgree } from "@heddle/memory/testing"
import { SqlConversations } from "@heddle/sql"
import { layer } from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import { file, ownFile } from "./support/files.ts"
import { apart, onEveryDatabase } from "./support/stores.ts"

conversations("conversations in a file keep the rules", Layer.provide(SqlConversations.layer, ownFile()))

conversations(
  "conversations in a database in memory keep the rules",
  Layer.provide(SqlConversations.layer, layer({ filename: ":memory:" }))
)

// The same client reaches servers.
const ofEffect = Layer.unwrapScoped(Effect.map(file, (path) => LibsqlClient.layer({ url: `file:${path}` })))
conversations("conversations keep the rules with Effect's own client", Layer.provide(SqlConversations.layer, ofEffect))

apart("a transaction of a file is none of Effect's own client", Layer.orDie(ofEffect), ownFile())

conversationsAgree(
  "conversations in a file are like those in memory, whatever is done",
  Layer.provide(SqlConversations.layer, ownFile())
)

describe("in a file", () => onEveryDatabase(ownFile()))
