/** What libraries have to say beside their results: warnings and worse, in one line each on standard error. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { Output } from "./Output.ts"
import { clean } from "./text.ts"

/** Logs to standard error: warnings and worse, or all of it for who looks for a failure. */
export const logging = (debug: boolean): Layer.Layer<never, never, Output> =>
  Layer.unwrapEffect(
    Effect.map(Output, ({ err }) => {
      const toOutput = Logger.make(({ logLevel, message }) => {
        const text = (Array.isArray(message) ? message : [message]).map((part) => clean(String(part))).join(" ")
        Effect.runFork(err.write(`heddle: ${logLevel.label.toLowerCase()}: ${text}\n`))
      })
      return Layer.mergeAll(
        Logger.replace(Logger.defaultLogger, toOutput),
        Logger.minimumLogLevel(debug ? LogLevel.All : LogLevel.Warning)
      )
    })
  )
