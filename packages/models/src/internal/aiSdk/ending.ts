/**
 * The end of a reply: why the model stopped, what it cost, and what else the provider
 * has said of the reply, for which its parts have no place.
 */
import type {
  LanguageModelV3File,
  LanguageModelV3FinishReason,
  LanguageModelV3Source,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
  SharedV3Warning
} from "@ai-sdk/provider"
import { type ChatModel, Errors } from "@heddle/core"
import { said } from "@heddle/core/settings"
import * as Encoding from "effect/Encoding"
import { own } from "./prompt.ts"

/** What ends a reply, streamed or not. */
export interface Ending {
  readonly finishReason: LanguageModelV3FinishReason
  readonly usage: LanguageModelV3Usage
  readonly providerMetadata?: SharedV3ProviderMetadata
}

/** The name that a provider gives to its reply, and which model gave it. */
export interface Origin {
  readonly id?: string
  readonly modelId?: string
  readonly timestamp?: Date
}

/** What a reply has no place for. It goes along in the metadata of its end. */
export class Extras {
  private readonly fields: Record<string, unknown> = {}

  response({ id, modelId, timestamp }: Origin): void {
    const named = said({ id, modelId, timestamp: timestamp && isoDate(timestamp) })
    if (Object.keys(named).length === 0) return
    this.fields["response"] = { ...(this.fields["response"] as object | undefined), ...named }
  }

  /** What the provider has left out of the request. */
  warnings(warnings: ReadonlyArray<SharedV3Warning>): void {
    if (warnings.length > 0) this.fields["warnings"] = warnings
  }

  add(part: LanguageModelV3Source | LanguageModelV3File): void {
    const list = `${part.type}s`
    const { type: _type, ...rest } = part
    const data =
      "data" in rest && typeof rest.data !== "string" ? { ...rest, data: Encoding.encodeBase64(rest.data) } : rest
    this.fields[list] = [...((this.fields[list] as ReadonlyArray<unknown> | undefined) ?? []), data]
  }

  /** The end of the reply, with all that was noted. */
  finish(end: Ending, reason: ChatModel.FinishReason): ChatModel.FinishPart {
    const { inputTokens, outputTokens, raw } = end.usage
    const usage = { inputTokens: said(inputTokens), outputTokens: said(outputTokens), ...(raw && { raw }) }
    const details = { ...said({ finishReason: end.finishReason.raw }), usage, ...this.fields }
    return {
      _tag: "Finish",
      reason,
      usage: { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0 },
      metadata: { ...end.providerMetadata, [own]: details }
    }
  }
}

/** Why the model stopped. A provider that says that its own reply went wrong has given none. */
export const finishReason = ({ raw, unified }: LanguageModelV3FinishReason): ChatModel.FinishReason => {
  // Anthropic's, which its provider takes for an end.
  if (raw === "pause_turn") return "pause"
  if (unified !== "error") return unified
  throw new Errors.ModelError({
    reason: "InvalidResponse",
    message: `The provider ended its reply with an error${raw === undefined ? "" : ` (${raw})`}.`
  })
}

/** Providers make dates of what servers say. */
const isoDate = (date: Date): string | undefined => (Number.isNaN(date.getTime()) ? undefined : date.toISOString())
