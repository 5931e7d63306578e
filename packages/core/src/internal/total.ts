import * as Either from "effect/Either"

/** A function that gives what it throws for a refusal: a schema may hold code that throws. */
export const total =
  <A, B>(f: (a: A) => Either.Either<B, unknown>) =>
  (a: A): Either.Either<B, unknown> => {
    try {
      return f(a)
    } catch (thrown) {
      return Either.left(thrown)
    }
  }
