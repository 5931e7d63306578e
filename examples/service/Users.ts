import { Context, Effect, Layer, Schema } from "effect"

export class User extends Schema.Class<User>("User")({ name: Schema.String }) {}

/** Nobody has this token, or there is none. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", { message: Schema.String }) {}

/** Who asks: each request has its own. */
export class CurrentUser extends Context.Tag("CurrentUser")<CurrentUser, User>() {}

/** Knows who has which token. */
export class Users extends Context.Tag("Users")<
  Users,
  { readonly find: (token: string) => Effect.Effect<User, Unauthorized> }
>() {
  static readonly layer = (tokens: ReadonlyMap<string, string>) =>
    Layer.succeed(Users, {
      find: (token) => {
        const name = tokens.get(token)
        return name === undefined
          ? new Unauthorized({ message: "Nobody has this token." })
          : Effect.succeed(new User({ name }))
      }
    })
}
