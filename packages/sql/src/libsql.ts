/**
 * A database in one local file, without a server: `layer` opens it with libSQL.
 * Needs the package `libsql`.
 *
 * The file has a write-ahead log. After a crash of the program all that was
 * acknowledged is there. After a power cut the last moments may be missing, unless
 * `synchronous` is `"full"`; what is there is whole. Several processes can use one
 * file at once, on one machine.
 *
 * @example
 * ```ts no-run
 * import { Conversations } from "@heddle/memory"
 * import { SqlConversations } from "@heddle/sql"
 * import * as libsql from "@heddle/sql/libsql"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.flatMap(Conversations.Conversations, (conversations) =>
 *   conversations.read(Conversations.main("ada"))
 * )
 * const layer = Layer.provide(SqlConversations.layer, libsql.layer({ filename: "data/heddle.db" }))
 * await Effect.runPromise(Effect.provide(program, layer))
 * ```
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DatabaseError } from "./DatabaseError.ts"
import { makeClient } from "./internal/libsql/connection.ts"
import { open } from "./internal/libsql/open.ts"
import { settled } from "./internal/libsql/options.ts"

/** How a file is opened. */
export interface Options {
  /**
   * The path of the file, and no URL. It is made if it is not there, and its folder
   * with it. `":memory:"` is a database that ends with the layer.
   */
  readonly filename: string
  /** `"full"` has every change on the disk before it is acknowledged, which takes about as long as the disk needs for it. @default "normal" */
  readonly synchronous?: "normal" | "full"
  /**
   * What is checked on opening: whether all of the file can be read as a database
   * (`"quick"`, about a second for a gigabyte),
   * also whether its indexes fit (`"full"`), or nothing, so that damage is found when
   * it is read. @default "quick" up to 64 MB, "none" beyond
   */
  readonly integrityCheck?: "quick" | "full" | "none"
  /**
   * How long a write waits for another process, from when it finds that this has the
   * file, before an error with the reason `Locked`. Those that wait do so at the same
   * time, and let reads through. @default "5 seconds"
   */
  readonly busyTimeout?: Duration.DurationInput
}

/**
 * A client of a file, open for as long as the layer is. All of its statements go
 * through one connection. Throws a `DefinitionError` if the options make no sense.
 *
 * A fiber that was started in a transaction belongs to that: when the transaction has
 * ended, all that the fiber still wants of the database fails, and nothing of it is
 * kept. Start after the transaction what goes on after it. While a transaction within
 * another has not ended, that cannot be committed.
 *
 * In a transaction of another client, statements are run as if none was open, and a
 * transaction is refused. They wait for an open transaction of this client to end, so two
 * transactions of which each asks the other's file wait for ever.
 */
export const layer = (options: Options): Layer.Layer<SqlClient, DatabaseError> => {
  const checked = settled(options)
  return Layer.scoped(
    SqlClient,
    Effect.flatMap(open(checked), ({ db, name }) => makeClient(db, name, checked.busyTimeout))
  ).pipe(Layer.provide(Reactivity.layer))
}
