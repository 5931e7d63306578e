/**
 * Rules of what makes no sense.
 */
import type { Rule } from "@heddle/testing/Rules"
import { dies, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { type Conversations, main, own } from "../../Conversations.ts"
import { appendAll, ask, exchange, known, numbered, talk } from "../conversationChecks.ts"

export const refusing: ReadonlyArray<Rule<Conversations>> = [
  {
    rule: "what makes no sense dies with a DefinitionError",
    check: Effect.gen(function* () {
      yield* appendAll(talk, numbered(2))
      const before = yield* known(talk)
      for (const key of [main(""), main("s", ""), own("s", "")]) {
        const name = shown(key)
        yield* dies(
          `read of ${name}`,
          ask((store) => store.read(key))
        )
        yield* dies(
          `append to ${name}`,
          ask((store) => store.append(key, exchange("1")))
        )
        yield* dies(
          `replace of ${name}`,
          ask((store) => store.replace(key, numbered(1), undefined))
        )
        yield* dies(
          `summarize of ${name}`,
          ask((store) => store.summarize(key, { text: "", through: 1 }, before.info))
        )
        yield* dies(
          `clear of ${name}`,
          ask((store) => store.clear(key))
        )
        yield* dies(
          `remove of ${name}`,
          ask((store) => store.remove(key))
        )
      }
      const nothing = { agent: "helper", messages: [] }
      for (const wrong of [nothing, exchange("1", "")]) {
        const name = shown(wrong)
        yield* dies(
          `append of ${name}`,
          ask((store) => store.append(talk, wrong))
        )
        yield* dies(
          `replace by ${name}`,
          ask((store) => store.replace(talk, [exchange("1"), wrong], before.info))
        )
      }
      for (const count of [-1, 0.5, NaN, -Infinity]) {
        for (const range of [
          { last: count },
          { last: 1, before: count },
          { first: count },
          { first: 1, after: count }
        ]) {
          yield* dies(
            `read of ${Object.entries(range).join(" ")}`,
            ask((store) => store.read(talk, range))
          )
        }
      }
      for (const through of [0, -1, 0.5, 3, NaN, Infinity]) {
        const summary = { text: "short", through }
        yield* dies(
          `summarize through ${through}`,
          ask((store) => store.summarize(talk, summary, before.info))
        )
      }
      for (const limit of [0, -1, 1.5, NaN, -Infinity]) {
        yield* dies(
          `list with a limit of ${limit}`,
          ask((store) => store.list({ limit }))
        )
      }
      for (const options of [{ tenant: "" }, { session: "" }, { after: { session: "" } }]) {
        yield* dies(
          `list of ${shown(options)}`,
          ask((store) => store.list({ ...options, limit: 1 }))
        )
      }
      const after = yield* known(talk)
      yield* same("The conversation", after, before)
    })
  }
]
