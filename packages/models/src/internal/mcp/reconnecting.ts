/**
 * A connection that is there when it is used: made at the first use, and anew when it
 * was lost.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { Connection } from "./connection.ts"
import type { Failure, Teller } from "./failure.ts"
import { Rest } from "./rest.ts"

/** When to try again to connect, if it may be otherwise in a moment. */
const again = Schedule.intersect(Schedule.exponential("200 millis"), Schedule.recurs(2))

/**
 * What gives the connection. All connections are closed with the scope. `onAnother` is
 * told when there is another one than before.
 */
export const reconnecting = (
  open: Effect.Effect<Connection, Failure, Scope.Scope>,
  tell: Teller,
  onAnother: () => void
): Effect.Effect<Effect.Effect<Connection, Failure>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const lock = yield* Effect.makeSemaphore(1)
    let isClosed = false
    let current: { readonly connection: Connection; readonly own: Scope.CloseableScope } | undefined
    const rest = new Rest()
    const close = Effect.sync(() => {
      isClosed = true
    })
    yield* Effect.addFinalizer(() => close)

    /** A connection with a scope of its own, which is closed if it does not come about. */
    const opened = Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Scope.fork(scope, { _tag: "Sequential" }), (own) =>
        restore(open).pipe(
          Scope.extend(own),
          Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
          Effect.map((connection) => {
            current = { connection, own }
            return connection
          })
        )
      )
    )
    const connect = Effect.gen(function* () {
      const before = current
      current = undefined
      if (before !== undefined) yield* Scope.close(before.own, Exit.void)
      const connection = yield* Effect.retry(opened, { schedule: again, while: (failure) => failure.passing })
      if (before !== undefined) onAnother()
      return connection
    })
    return lock.withPermits(1)(
      Effect.suspend(() => {
        if (isClosed) return tell.failure("Unavailable", "is not connected any more: its scope is closed.")
        return current?.connection.isOpen() === true ? Effect.succeed(current.connection) : rest.after(connect)
      })
    )
  })
