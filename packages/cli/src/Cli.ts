/**
 * The `heddle` command as a function, for a command of one's own: with other handlers
 * for agent files to name.
 *
 * @example
 * ```ts no-run
 * #!/usr/bin/env node
 * import { Handler } from "@heddle/core"
 * import { Cli, HandlerRegistry } from "@heddle/cli"
 * import { Schema } from "effect"
 *
 * const signed = HandlerRegistry.define({
 *   description: "Has the answer signed.",
 *   options: Schema.Struct({ name: Schema.String }),
 *   make: ({ name }) => Handler.instructions(`Sign your answer with "${name}".`)
 * })
 *
 * Cli.run({ handlers: { signed } })
 * ```
 */
import type { ModelProvider } from "@heddle/models"
import * as Effect from "effect/Effect"
import { builtIn, type Registry } from "./HandlerRegistry.ts"
import { main as command } from "./internal/main.ts"
import { runProcess } from "./internal/node/process.ts"
import { world } from "./internal/node/world.ts"
import { providers } from "./internal/services.ts"

/** What a command has besides what `heddle` has. */
export interface Options {
  /** Handlers that files can name besides those that there are, or in their place. */
  readonly handlers?: Registry
  /** Providers besides those that there are, whose models can be named as `provider/model`. */
  readonly providers?: ReadonlyArray<ModelProvider.ModelProvider>
}

/** How a command is run inside of another program. */
export interface MainOptions extends Options {
  /** What stands on standard input, for the commands that read it; that of this process unless said. */
  readonly input?: string | Uint8Array
}

/**
 * Runs the command with arguments, such as `["run", "clerk", "Hello"]`, in this process,
 * and gives the exit status. It writes to the output of this process.
 */
export const main = (args: ReadonlyArray<string>, options: MainOptions = {}): Effect.Effect<number> =>
  Effect.suspend(() =>
    Effect.provide(
      command(args),
      world(
        {
          handlers: { ...builtIn, ...options.handlers },
          providers: [...providers, ...(options.providers ?? [])]
        },
        options.input
      )
    )
  )

/** Runs the command with the arguments of this process, and ends the process with its status. */
export const run = (options: Options = {}): void => runProcess(main(process.argv.slice(2), options))
