/**
 * What a provider answers, as parts of ours. A reply in one piece and a
 * streamed one go the same way, so that they cannot differ.
 */
import type { LanguageModelV3Content, LanguageModelV3StreamPart, SharedV3Warning } from "@ai-sdk/provider"
import type { ChatModel } from "@heddle/core"
import { type Ending, Extras, finishReason, type Origin } from "./ending.ts"
import { Order } from "./order.ts"

/** Takes what a provider says of one reply. */
export class Assembly {
  private readonly order = new Order()
  private readonly extras = new Extras()

  /** What can be passed on. Whoever takes it out empties it. */
  readonly ready: Array<ChatModel.ModelPart> = this.order.ready

  /** Takes a part of a stream; `finish` and `error` are not its business. */
  stream(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case "text-start":
        return void this.order.start("Text", part.id, part.providerMetadata)
      case "text-delta":
        return this.order.delta("Text", part.id, part.delta, part.providerMetadata)
      case "text-end":
        return this.order.end("Text", part.id, part.providerMetadata)
      case "reasoning-start":
        return void this.order.start("Reasoning", part.id, part.providerMetadata)
      case "reasoning-delta":
        return this.order.delta("Reasoning", part.id, part.delta, part.providerMetadata)
      case "reasoning-end":
        return this.order.end("Reasoning", part.id, part.providerMetadata)
      case "stream-start":
        return this.warnings(part.warnings)
      case "response-metadata":
        return this.response(part)
      case "tool-call":
      case "tool-result":
      case "source":
      case "file":
        return this.complete(part)
    }
  }

  /** Takes a content of a reply in one piece. */
  content(content: LanguageModelV3Content): void {
    switch (content.type) {
      case "text":
        return this.order.piece("Text", content.text, content.providerMetadata)
      case "reasoning":
        return this.order.piece("Reasoning", content.text, content.providerMetadata)
      case "tool-call":
      case "tool-result":
      case "source":
      case "file":
        return this.complete(content)
    }
  }

  /** Passes on what has been waiting, and gives the end of the reply. */
  finish(end: Ending): ChatModel.FinishPart {
    const reason = finishReason(end.finishReason)
    this.order.finish(reason)
    return this.extras.finish(end, reason)
  }

  /** Notes the name that the provider gives to its reply, and which model gave it. */
  response(origin: Origin): void {
    this.extras.response(origin)
  }

  /** Notes what the provider has left out of the request. */
  warnings(warnings: ReadonlyArray<SharedV3Warning>): void {
    this.extras.warnings(warnings)
  }

  private complete(part: Exclude<LanguageModelV3Content, { readonly type: "text" | "reasoning" }>): void {
    switch (part.type) {
      case "tool-call":
        return this.order.call(part)
      case "tool-result":
        return this.order.result(part)
      case "source":
      case "file":
        return this.extras.add(part)
    }
  }
}
