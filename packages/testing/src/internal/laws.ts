/**
 * Registers the laws as tests of the vitest suite that it is called in.
 */
import type { ChatModel, Handler } from "@heddle/core"
import type * as Layer from "effect/Layer"
import { it } from "vitest"
import * as Law from "../Law.ts"

/** Which laws, and how hard to try. */
export interface Options extends Law.Options {
  /** The numbers of laws that the handler is not meant to keep. */
  readonly except?: ReadonlyArray<number>
}

/** Tests that a handler, or a pipeline, keeps the laws. One that needs other services than the model takes a layer of them. */
export const handler: {
  <P, E, H>(handler: Handler.Handler<P, E, ChatModel.ChatModel, H>, options?: Options): void
  <P, E, R, H, LE>(
    handler: Handler.Handler<P, E, R | ChatModel.ChatModel, H>,
    options: Options & { readonly layer: Layer.Layer<R, LE> }
  ): void
} = (handler: Handler.Any, options?: Options & { readonly layer?: Layer.Layer<never, unknown> }) => {
  const subject = Law.subject(handler, options?.layer as Layer.Layer<unknown, unknown> | undefined, options?.compose)
  for (const law of Law.laws) {
    if (options?.except?.includes(law.number)) continue
    it(`law ${law.number}, ${law.name}`, () => Law.checkSubject(law, subject, options))
  }
}
