/** What the built-in tools are made of. */
import type { PlatformError } from "@effect/platform/Error"
import { Call, Message, Tool } from "@heddle/core"
import { Documents } from "@heddle/rag"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Why a tool did not do what it was asked, as the model is told. */
export class Refused extends Data.TaggedError("Refused")<{ readonly reason: string }> {}

/** A tool did not do what it was asked. */
export const refused = (reason: string): Refused => new Refused({ reason })

/** A tool whose result is text. What it refuses is told to the model in one sentence, as it is. */
export const textTool = <P, PI, R>(options: {
  readonly name: string
  readonly description: string
  readonly parameters: Schema.Schema<P, PI>
  readonly annotations: Partial<Tool.Annotations>
  readonly execute: (parameters: P) => Effect.Effect<string, Refused, R>
}): Tool.Tool<never, R> =>
  Tool.fromCall({
    ...options,
    execute: (parameters: P) =>
      Call.fromEffect(
        Effect.match(options.execute(parameters), {
          onSuccess: Message.succeeded,
          onFailure: ({ reason }) => Message.failed(reason)
        })
      )
  })

/** An error of the file system, in words and without what is none of the model's business. */
export const unreadable =
  (shown: string) =>
  (error: PlatformError): Refused => {
    if (error._tag !== "SystemError") return refused(`"${shown}" is no path.`)
    switch (error.reason) {
      case "NotFound":
        return refused(`There is no file or folder "${shown}".`)
      case "PermissionDenied":
        return refused(`"${shown}" may not be accessed.`)
      default:
        return refused(`"${shown}" cannot be accessed (${error.reason}).`)
    }
  }

/** The text of a document; none where it is empty. `shown`: how it is told of one that cannot be read. */
export const textOf = (
  document: Documents.Described,
  bytes: Uint8Array,
  shown: string
): Effect.Effect<string, Refused> =>
  Effect.flatMap(Documents.document(document, bytes), (item) => {
    const unfit = ({ message, reason }: Pick<Documents.Skipped, "message" | "reason">) =>
      reason === "Empty" ? Effect.succeed("") : Effect.fail(refused(`${shown} cannot be read: ${message}`))
    return item._tag === "Skipped"
      ? unfit(item)
      : Effect.catchAll(
          Effect.map(item.read, ({ text }) => text),
          unfit
        )
  })

/** A number from 1 that can be left out, in a form that the providers of all models take. */
export const count = (description: string) =>
  Schema.optionalWith(
    Schema.Number.pipe(
      Schema.filter((n) => Number.isSafeInteger(n) && n >= 1, {
        jsonSchema: { type: "integer", minimum: 1 },
        message: () => "expected a whole number from 1"
      })
    ),
    { exact: true }
  ).annotations({ description })

/** Characters of a result at the most. */
export const longest = 100_000
