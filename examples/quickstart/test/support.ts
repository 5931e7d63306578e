import { ChatModel, Message } from "@heddle/core"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import type { Library } from "../Library.ts"

/** A library in a folder of its own, which is gone with the scope. A value that begins with `->` is a link. */
export const temporaryLibrary = (files: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const root = await fs.mkdtemp(path.join(os.tmpdir(), "quickstart-"))
        for (const [name, text] of Object.entries(files)) {
          const file = path.join(root, name)
          await fs.mkdir(path.dirname(file), { recursive: true })
          await (text.startsWith("->") ? fs.symlink(text.slice(2), file) : fs.writeFile(file, text))
        }
        return root
      }),
      (root) => Effect.promise(() => fs.rm(root, { recursive: true, force: true }))
    ),
    (root): Library => ({ root, include: ["README.md", "docs"] })
  )

/** A model that makes one tool call and then repeats its outcome. */
export const calling = (name: string, args: unknown) =>
  ChatModel.layer((request) => {
    const done = request.history.flatMap(Message.toolCalls).at(-1)
    return ChatModel.reply(
      done === undefined ? [Message.toolCall("call", name, args)] : Message.renderOutcome(done.outcome)
    )
  })

/** The outcome of the last tool call. */
export const lastOutcome = (history: ReadonlyArray<Message.Message>): Message.ToolOutcome | undefined =>
  history.flatMap(Message.toolCalls).at(-1)?.outcome
