/**
 * A pipeline that knows what it provides, what it fails with and what it needs.
 * The annotations below are what the compiler infers; they stand here to be read.
 */
import { Agent, type ChatModel, Handler, Instructions, Pipeline, Tool, Tools } from "@heddle/core"
import { Context, Effect, Layer, Schema } from "effect"

export class User extends Schema.Class<User>("User")({ name: Schema.String, city: Schema.String }) {}

/** Who asks. Handlers and tools behind `auth` can use it. */
export class CurrentUser extends Context.Tag("CurrentUser")<CurrentUser, User>() {}

/** The token of a request. */
export class Token extends Context.Tag("Token")<Token, string>() {}

/** Nobody has this token. */
export class Denied extends Schema.TaggedError<Denied>()("Denied", { token: Schema.String }) {}

/** Knows who has which token. */
export class Users extends Context.Tag("Users")<Users, ReadonlyMap<string, User>>() {
  static readonly Live = Layer.succeed(Users, new Map([["t-1", new User({ name: "Ada", city: "Turin" })]]))
}

/** Knows the temperature of some cities. */
export class Thermometers extends Context.Tag("Thermometers")<Thermometers, ReadonlyMap<string, number>>() {
  static readonly Live = Layer.succeed(Thermometers, new Map([["Turin", 21]]))
}

// -----------------------------------------------------------------------------
// handlers
// -----------------------------------------------------------------------------

const findUser = Effect.gen(function* () {
  const token = yield* Token
  const user = (yield* Users).get(token)
  return user ?? (yield* new Denied({ token }))
})

/** Provides `CurrentUser` to all that comes after it. */
export const auth: Handler.Handler<CurrentUser, Denied, Token | Users> = Handler.provide(CurrentUser, findUser)

/** Needs `CurrentUser`, so it can only stand behind a handler that provides it. */
export const greet: Handler.Handler<never, never, CurrentUser> = Handler.mapInstructions(
  (instructions) =>
    Effect.map(CurrentUser, ({ name }) => Instructions.append(instructions, `You are speaking with ${name}.`)),
  "greet"
)

/** Answers `Denied` of whatever comes after it. */
export const polite: Handler.Handler<never, never, never, Denied> = Handler.catchError(
  Denied,
  ({ token }) => `Sorry, nobody has the token "${token}".`
)

/**
 * Nothing is left to fail with: `polite` handles `Denied`. `CurrentUser` is not
 * needed from outside: `auth` provides it, to `greet` and to the tools.
 */
export const pipeline: Pipeline.Pipeline<CurrentUser, never, Token | Users, Denied> = Pipeline.make(polite, auth, greet)

// -----------------------------------------------------------------------------
// the agent
// -----------------------------------------------------------------------------

/** There is no thermometer in this city. */
export class NoThermometer extends Schema.TaggedError<NoThermometer>()("NoThermometer", { city: Schema.String }) {}

/**
 * A tool with a failure, which the model is told of. With `failureMode: "fail"`
 * it would fail the run, and its type would be `Tool<NoThermometer, …>`.
 */
const temperature: Tool.Tool<never, CurrentUser | Thermometers> = Tool.make({
  name: "temperature",
  description: "The temperature in a city, by default in that of the user.",
  parameters: Schema.Struct({ city: Schema.optional(Schema.String) }),
  success: Schema.Struct({ city: Schema.String, celsius: Schema.Number }),
  failure: NoThermometer,
  execute: Effect.fnUntraced(function* ({ city: asked }) {
    const city = asked ?? (yield* CurrentUser).city
    const celsius = (yield* Thermometers).get(city)
    return celsius === undefined ? yield* new NoThermometer({ city }) : { city, celsius }
  })
})

const parts = { name: "weather", instructions: "You tell the weather.", tools: Tools.make(temperature) }

/** What a run answers, fails with and needs: the tool's `CurrentUser` comes from the pipeline. */
export const agent: Agent.Agent<string, Agent.RunError, Token | Users | Thermometers | ChatModel.ChatModel> =
  Agent.make({
    ...parts,
    handlers: pipeline
  })

/** Whatever the runs share. The token is each run's own. */
export const Live = Layer.merge(Users.Live, Thermometers.Live)

/** Asks for a caller. */
export const ask = (token: string, question: string) =>
  Agent.run(agent, question).pipe(Effect.provideService(Token, token))

// -----------------------------------------------------------------------------
// the wrong order
// -----------------------------------------------------------------------------

/** `greet` stands before `auth`, so its `CurrentUser` is missing: the type says so … */
export const wrongOrder: Pipeline.Pipeline<CurrentUser, never, CurrentUser | Token | Users, Denied> = Pipeline.make(
  polite,
  greet,
  auth
)

/** … and an agent that is to need no more than `agent` does not compile. */
// @ts-expect-error -- 'CurrentUser' is not assignable to 'Token | Users | Thermometers | ChatModel'
export const wrongAgent: typeof agent = Agent.make({ ...parts, handlers: wrongOrder })
