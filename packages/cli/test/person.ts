/** A person at a chat, and a model, as a test has them. */
import { ScriptedModel } from "@heddle/testing"
import type { ModelProvider } from "@heddle/models"
import * as Effect from "effect/Effect"
import type { Asked, Read, Service } from "../src/internal/chat/Lines.ts"

/** What a person does next: types a line, presses Ctrl-C (with what stood in the line then), ends the input; `undefined` once something else is done. */
type Step = string | Read | (() => string | Read | Promise<string | Read>)

export const ctrlC = (line = ""): Read => ({ _tag: "Interrupt", line })

/** A person who does this, and then ends the input. */
export const makePerson = (steps: ReadonlyArray<Step>, { isTerminal = true } = {}) => {
  const left = [...steps]
  const asked: Array<Asked> = []
  let presses = 0
  let waiting: (() => void) | undefined = undefined
  const service: Service = {
    open: () =>
      Effect.succeed({
        isTerminal,
        read: (how) =>
          Effect.promise(async () => {
            asked.push(how)
            const step = left.shift() ?? { _tag: "End" }
            const read = typeof step === "function" ? await step() : step
            return typeof read === "string" ? { _tag: "Line", text: read } : read
          }),
        interrupted: Effect.async<void>((resume) => {
          waiting = () => {
            if (presses === 0) return
            presses -= 1
            waiting = undefined
            resume(Effect.void)
          }
          waiting()
          return Effect.sync(() => (waiting = undefined))
        })
      })
  }
  return {
    service,
    /** How the lines were asked for. */
    asked,
    /** Presses Ctrl-C while no line is read. */
    press: () => {
      presses += 1
      waiting?.()
    }
  }
}

/** A provider of one model, named `scripted/model`, and what it was asked. */
export const scripted = (script: ScriptedModel.Script) => {
  const model = Effect.runSync(ScriptedModel.make(script))
  const provider: ModelProvider.ModelProvider = { name: "scripted", make: () => Effect.succeed(model.service) }
  return { provider, requests: () => Effect.runSync(model.requests) }
}
