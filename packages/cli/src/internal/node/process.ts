/** A program as this process: signals interrupt it, and it ends with a status. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { status } from "../failure.ts"

/** What a signal that ends a process is worth as a status: 128 and its number. */
const signals = { SIGINT: status.interrupted, SIGTERM: 143, SIGHUP: 129 } as const

/**
 * Runs a program to its end, with the exit status that it gives. A signal interrupts it,
 * and so does a reader of its output that goes away; what is interrupted cleans up
 * first. A second Ctrl-C does not wait for that.
 */
export const runProcess = (program: Effect.Effect<number>): void => {
  const fiber = Effect.runFork(program)
  let ending: number | undefined
  const end = (as: number) => {
    if (ending !== undefined) return
    ending = as
    Effect.runFork(Fiber.interrupt(fiber))
  }
  for (const [name, as] of Object.entries(signals)) {
    process.on(name, () => {
      if (name === "SIGINT" && ending !== undefined) process.exit(as)
      end(as)
    })
  }
  process.stdout.on("error", () => end(status.closed))
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
