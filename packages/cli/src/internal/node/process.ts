/** A program as this process: signals interrupt it, and it ends with a status. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { status } from "../failure.ts"

/** What a signal that ends a process is worth as a status: 128 and its number. */
const signals = { SIGINT: status.interrupted, SIGTERM: 143, SIGHUP: 129 } as const

/** How long what is interrupted may take to clean up, in milliseconds. */
const patience = 5000

/**
 * Runs a program to its end, with the exit status that it gives. A signal interrupts it,
 * and so does output that cannot be written any more; what is interrupted cleans up
 * first. A second signal does not wait for that, and neither does a cleaning that takes
 * too long.
 */
export const runProcess = (program: Effect.Effect<number>): void => {
  const fiber = Effect.runFork(program)
  let ending: number | undefined
  const end = (as: number) => {
    if (ending !== undefined) return
    ending = as
    Effect.runFork(Fiber.interrupt(fiber))
    setTimeout(() => process.exit(as), patience).unref()
  }
  for (const [name, as] of Object.entries(signals)) {
    process.on(name, () => {
      if (ending !== undefined) process.exit(as)
      end(as)
    })
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return end(status.closed)
    if (ending === undefined) process.stderr.write(`heddle: The output cannot be written: ${error.message}\n`)
    end(status.failed)
  })
  // Nobody is left to be told of it.
  process.stderr.on("error", () => {})
  // An observer, since nothing inside of a fiber runs on once it is interrupted.
  fiber.addObserver((exit) => {
    process.exitCode = ending ?? (Exit.isSuccess(exit) ? exit.value : status.interrupted)
    leave()
  })
}

/** Ends a process that something keeps alive which nobody waits for any more, once all is written. */
const leave = (): void => {
  const timer = setTimeout(() => {
    if (process.stdout.writableLength + process.stderr.writableLength > 0) leave()
    else process.exit()
  }, 500)
  timer.unref()
}
