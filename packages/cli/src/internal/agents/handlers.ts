/** The handlers that every agent file can name. */
import { Call, type ChatModel, Errors, Handler, Message, type Tool } from "@heddle/core"
import { expecting, optional, wholeFrom } from "@heddle/core/settings"
import { ModelDecorator } from "@heddle/models"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { define, type Registry } from "./definition.ts"
import { limited } from "./timeLimit.ts"

const Time = Schema.Union(
  Schema.JsonNumber.pipe(Schema.positive()),
  Schema.String.pipe(
    Schema.filter((text): text is `${number} ${Duration.Unit}` =>
      Option.isSome(Option.filter(Duration.decodeUnknown(text), (time) => Duration.toMillis(time) > 0))
    )
  )
).annotations(expecting('a time such as "10 seconds", or milliseconds'))

/** A decorator of models, around the calls of one agent. */
const around = (name: string, decorator: ModelDecorator.Decorator): Handler.Handler =>
  Handler.make(name, {
    wrapModelCall: (request, next) =>
      decorator({
        // What comes from inside may be another error; those that decorators look at are a model's, and they look twice.
        call: (request) => next(request) as unknown as ChatModel.ModelCall
      }).call(request) as unknown as ReturnType<typeof next>
  })

/** Whether something from inside may pass, and is a model's failure at all. */
const mayPass = (error: unknown): boolean => error instanceof Errors.ModelError && ModelDecorator.isTransient(error)

const tooLate = Symbol("too late")

/** A result that is too long is cut where the model reads it. */
const cutting = (most: number) => (): Call.Transducer<Tool.ToolPart> => {
  let left = most
  const note = `\n[The rest is left out: a result may have ${most} characters.]`
  const cut = (text: string): string => {
    if (text.length <= left) {
      left -= text.length
      return text
    }
    const kept = `${text.slice(0, left)}${note}`
    left = -1
    return kept
  }
  return {
    push: (part) => {
      if (part._tag === "Text") return left < 0 ? [] : [{ ...part, text: cut(part.text) }]
      if (part._tag !== "Done" || part.outcome._tag !== "Succeeded") return [part]
      const text = Message.renderOutcome(part.outcome)
      return [text.length <= most ? part : { ...part, outcome: Message.succeeded(`${text.slice(0, most)}${note}`) }]
    },
    flush: () => []
  }
}

/** The handlers that every agent file can name. */
export const builtIn: Registry = {
  instructions: define({
    description: "Adds a section to the instructions.",
    options: Schema.Struct({ text: Schema.NonEmptyString.annotations(expecting("a text that is not empty")) }),
    make: ({ text }) => Handler.instructions(text)
  }),
  retry: define({
    description: "Asks the model again after a failure that may pass: a limit, an overload, a time-out, the network.",
    options: Schema.Struct({ times: optional(wholeFrom(0)), baseDelay: optional(Time), maxDelay: optional(Time) }),
    make: (options) => around("retry", ModelDecorator.retry({ ...options, while: mayPass }))
  }),
  timeout: define({
    description:
      "Limits how long a call of the model may take, until its first word (firstPart) and altogether (total).",
    options: Schema.Struct({ firstPart: optional(Time), total: optional(Time) }),
    make: (options) => around("timeout", ModelDecorator.timeout(options))
  }),
  toolTimeout: define({
    description:
      "Limits how long a call of a tool may take (after), without the time in which the person is asked. The model is told of one that took longer.",
    options: Schema.Struct({ after: Time }),
    make: ({ after }) =>
      Handler.wrapToolCall(
        (request, next) =>
          Call.orElse(
            Call.around(next(request), (effect) => limited(effect, { duration: after, onLate: () => tooLate })),
            (error) =>
              error === tooLate
                ? Call.succeed(
                    Message.failed(`Tool "${request.name}" did not answer within ${Duration.format(after)}.`)
                  )
                : Call.fail(error)
          ),
        "toolTimeout"
      )
  }),
  maxToolResult: define({
    description: "Cuts results of tools that have more than so many characters.",
    options: Schema.Struct({ characters: wholeFrom(1) }),
    make: ({ characters }) =>
      Handler.wrapToolCall((request, next) => Call.transform(next(request), cutting(characters)), "maxToolResult")
  })
}
