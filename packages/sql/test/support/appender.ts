/**
 * A program that appends `count` exchanges of a `name` to the conversation of "ada"
 * in a file, and says on its standard output when one is kept.
 */
import { Message } from "@heddle/core"
import { Conversations } from "@heddle/memory"
import { SqlConversations } from "@heddle/sql"
import { layer } from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"

const [filename = "", name = "", count = "0"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const conversations = yield* Conversations.Conversations
  for (let n = 0; n < Number(count); n++) {
    const messages = [Message.user(`${name} ${n}`), Message.assistant(`${n} `.repeat(500))]
    const { exchanges } = yield* conversations.append(Conversations.main("ada"), { agent: name, messages })
    writeSync(1, `${exchanges}\n`)
  }
})

await Effect.runPromise(
  Effect.provide(program, Layer.provide(SqlConversations.layer, layer({ filename, busyTimeout: "60 seconds" })))
)
