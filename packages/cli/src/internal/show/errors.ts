/** What a run fails with, in words that say what can be done. */
import { Errors } from "@heddle/core"
import { MemoryErrors } from "@heddle/memory"
import { RagErrors } from "@heddle/rag"
import { DatabaseError } from "@heddle/sql/DatabaseError"
import type { AgentFile } from "../../AgentFile.ts"
import { CliError, describe, failed, usage } from "../failure.ts"
import { clean } from "../text.ts"

const ways: Record<Errors.ModelErrorReason, string> = {
  RateLimited: "The provider wants fewer requests: wait a little, or have another model answer with --model.",
  Overloaded: "The provider has too much to do: try again, or have another model answer with --model.",
  Timeout: "The model took too long: try again, or have another model answer with --model.",
  Network: "The provider cannot be reached: check the network; heddle doctor says what answers.",
  Authentication: "The provider does not take the key: check it; heddle doctor says which keys there are.",
  ContextLength:
    "The conversation is too long for the model: set a smaller contextWindow in the agent's file, or begin another session.",
  ContentFilter: "The provider refuses this content: ask in other words.",
  BadRequest: "The provider refuses the request: check the name of the model and its options.",
  InvalidResponse: "The model answered with what is no answer: try again, or have another model answer with --model.",
  Unknown: "Try again, or have another model answer with --model."
}

/** What a run of an agent has failed with, as the command says it. */
export const told = (error: unknown, { name, path }: Pick<AgentFile, "name" | "path">): CliError => {
  if (error instanceof CliError) return error
  const message = clean(describe(error))
  // It may have been an agent that this one has asked.
  const fileOf = (agent: string) => (agent === name ? path : `the file of "${agent}"`)
  if (error instanceof Errors.ModelError) {
    // A model that is not there says itself what to do.
    return failed(hasWayOut(error) ? message : `${message}\n${ways[error.reason]}`, error)
  }
  if (error instanceof Errors.StepLimitReached) {
    return failed(
      `${message}\nSet a higher maxSteps in ${fileOf(error.agent)}, or "onStepLimit: answer" to have what is known.`,
      error
    )
  }
  if (error instanceof Errors.InvalidOutput) {
    return failed(
      `${message}\nHave another model answer with --model, or change "output" in ${fileOf(error.agent)}.`,
      error
    )
  }
  if (error instanceof MemoryErrors.ConversationsUnavailable && error.cause instanceof DatabaseError) {
    return failed(clean(error.cause.message), error)
  }
  if (error instanceof MemoryErrors.InvalidMemory || error instanceof RagErrors.InvalidRag) {
    return usage(`${path}: ${message}`)
  }
  return failed(`The run of "${name}" failed: ${message}`, error)
}

/** Why an exchange could not be kept, for a person; nothing if it is about something else. */
export const unkept = (error: unknown): string | undefined => {
  if (error instanceof MemoryErrors.ConversationChanged) return "the conversation has changed meanwhile"
  // A summary that is not written now is written later.
  if (!(error instanceof MemoryErrors.ConversationsUnavailable) || error.operation === "summarize") return undefined
  return clean(describe(error.cause))
}

const hasWayOut = ({ cause }: Errors.ModelError): boolean =>
  typeof cause === "object" && cause !== null && "_tag" in cause && cause._tag === "ModelUnavailable"
