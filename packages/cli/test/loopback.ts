/** The command with a provider of models that are on the loopback, for tests that run it as a program. */
import * as aiSdk from "@heddle/models/aiSdk"
import { Cli } from "../src/index.ts"

Cli.run({
  providers: [
    {
      name: "loopback",
      make: (settings) => aiSdk.openaiCompatible.make({ ...settings, baseUrl: process.env["LOOPBACK_URL"] })
    }
  ]
})
