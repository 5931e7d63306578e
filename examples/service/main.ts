import { runMain } from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer } from "effect"
import { DemoModel } from "./DemoModel.ts"
import * as Http from "./http.ts"
import { Journal } from "./Journal.ts"
import { Users } from "./Users.ts"

const tokens = new Map([
  ["t-ada", "Ada"],
  ["t-grace", "Grace"]
])

const help = (port: number) => `Listening on port ${port}. Try:

  curl -N http://127.0.0.1:${port}/runs -H 'authorization: Bearer t-ada' -d '{"question":"Who am I?","instructions":"Be brief."}'
  curl http://127.0.0.1:${port}/health
`

const Live = Layer.unwrapEffect(
  Effect.map(Config.port("PORT").pipe(Config.withDefault(3000)), (port) =>
    Layer.effectDiscard(Console.log(help(port))).pipe(Layer.provide(Http.layer(port)))
  )
).pipe(Layer.provide([Users.layer(tokens), Journal.Live, DemoModel]))

runMain(Layer.launch(Live))
