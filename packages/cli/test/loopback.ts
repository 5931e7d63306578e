/** The command with models that are on the loopback, for tests that run it as a program. */
import { Handler } from "@heddle/core"
import * as aiSdk from "@heddle/models/aiSdk"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Cli, HandlerRegistry } from "../src/index.ts"

Cli.run({
  providers: [
    {
      name: "loopback",
      make: (settings) => aiSdk.openaiCompatible.make({ ...settings, baseUrl: process.env["LOOPBACK_URL"] })
    }
  ],
  handlers: {
    stubborn: HandlerRegistry.define({
      description: "Goes on for ever, and does not let itself be cancelled.",
      options: Schema.Struct({}),
      make: () =>
        Handler.beforeModel((history) =>
          Effect.as(
            Effect.uninterruptible(
              Effect.async<never>(() => {
                process.stdout.write("Working.\n")
                setInterval(() => {}, 1000)
              })
            ),
            history
          )
        )
    })
  }
})
