/** Running a program as a command: its status, its complaints, and Ctrl-C. */
import { Cause, Effect, Exit, Fiber } from "effect"
import { short } from "./terminal.ts"

/** An error, as one reads it. */
export const describe = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : String(error)

/** What went wrong, as one reads it. */
export const messageOf = (cause: Cause.Cause<unknown>): string =>
  Cause.isInterruptedOnly(cause) ? "cancelled" : describe(Cause.squash(cause))

/** Says on standard error what went wrong. */
export const complain = (name: string, problem: string): void =>
  void process.stderr.write(`${name}: ${short(problem, 300)}\n`)

/**
 * Runs a program to its end, with the exit status that it gives. A failure is told
 * and has status 1; Ctrl-C interrupts the program, which then has status 130.
 */
export const runMain = <E>(name: string, program: Effect.Effect<number, E>): void => {
  // Whoever reads the output may stop reading it.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
  })
  const fiber = Effect.runFork(program)
  // An observer, since nothing inside of a fiber runs on once it is interrupted.
  fiber.addObserver((exit) => {
    if (Exit.isFailure(exit)) complain(name, messageOf(exit.cause))
    process.exitCode = Exit.isSuccess(exit) ? exit.value : Exit.isInterrupted(exit) ? 130 : 1
  })
  process.once("SIGINT", () => Effect.runFork(Fiber.interrupt(fiber)))
}
