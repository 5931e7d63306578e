/**
 * What a provider answers, as parts of ours. A reply in one piece and a
 * streamed one go the same way, so that they cannot differ.
 */
import type {
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3ToolResult,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata
} from "@ai-sdk/provider"
import { type ChatModel, Errors, Message } from "@heddle/core"
import { said } from "@heddle/core/settings"
import * as Encoding from "effect/Encoding"
import { merge } from "../providerMetadata.ts"
import { own } from "./prompt.ts"

type Metadata = SharedV3ProviderMetadata | undefined
type Piece = ChatModel.TextPart | ChatModel.ReasoningPart

/** A text or a thought that is being said. */
interface Block {
  readonly tag: Piece["_tag"]
  readonly id: string
  metadata: Metadata
  /** What has not been passed on yet. */
  text: string
  ended: boolean
}

/** A call that the provider runs itself; it is passed on with its result. */
interface Running {
  readonly tag: "ToolCall"
  readonly call: LanguageModelV3ToolCall
  result: LanguageModelV3ToolResult | undefined
  ended: boolean
}

/** Something that is complete as it is. */
interface Whole {
  readonly tag: "Whole"
  readonly part: ChatModel.ModelPart
}

/** A call without any arguments, until it is known that the limit of tokens has not cut them off. */
interface Bare {
  readonly tag: "Bare"
  readonly call: LanguageModelV3ToolCall
  arguments: unknown
}

type Slot = Block | Running | Whole | Bare

/**
 * Puts what a provider says into the order in which it began to be said. The
 * oldest text that is not over yet is passed on piece by piece; what a provider
 * says meanwhile waits for its end, so that no text, thought or signature is
 * mixed with those of another.
 */
export class Assembly {
  /** What can be passed on. Whoever takes it out empties it. */
  readonly ready: Array<ChatModel.ModelPart> = []
  private readonly open = new Map<string, Block | Running>()
  /** In the order of their beginning. The first one is passed on as it comes. */
  private readonly slots: Array<Slot> = []
  /** The text or thought that was passed on last, if it has no metadata: the next one of its kind must not join it. */
  private unsealed: Piece["_tag"] | undefined = undefined
  private readonly extra: Record<string, unknown> = {}
  private bare: Bare | undefined = undefined
  /** Whether something of the first slot has been passed on. */
  private saying = false

  /** Takes a part of a stream; `finish` and `error` are not its business. */
  stream(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case "text-start":
        return void this.start("Text", part.id, part.providerMetadata)
      case "text-delta":
        return this.delta("Text", part.id, part.delta, part.providerMetadata)
      case "text-end":
        return this.end("Text", part.id, part.providerMetadata)
      case "reasoning-start":
        return void this.start("Reasoning", part.id, part.providerMetadata)
      case "reasoning-delta":
        return this.delta("Reasoning", part.id, part.delta, part.providerMetadata)
      case "reasoning-end":
        return this.end("Reasoning", part.id, part.providerMetadata)
      case "stream-start":
        if (part.warnings.length > 0) this.extra["warnings"] = part.warnings
        return
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
      case "reasoning":
        return this.add({
          tag: content.type === "text" ? "Text" : "Reasoning",
          id: "",
          text: content.text,
          metadata: content.providerMetadata,
          ended: true
        })
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
    for (const slot of this.open.values()) slot.ended = true
    this.dress(reason === "length" ? "" : {})
    this.advance()
    const { inputTokens, outputTokens, raw } = end.usage
    const usage = { inputTokens: said(inputTokens), outputTokens: said(outputTokens), ...(raw && { raw }) }
    const details = { ...said({ finishReason: end.finishReason.raw }), usage, ...this.extra }
    return {
      _tag: "Finish",
      reason,
      usage: { inputTokens: inputTokens.total ?? 0, outputTokens: outputTokens.total ?? 0 },
      metadata: { ...end.providerMetadata, [own]: details }
    }
  }

  /** Notes the name that the provider gives to its reply, and which model gave it. */
  response({ id, modelId, timestamp }: { readonly id?: string; readonly modelId?: string; readonly timestamp?: Date }) {
    const named = said({ id, modelId, timestamp: timestamp && isoDate(timestamp) })
    if (Object.keys(named).length === 0) return
    this.extra["response"] = { ...(this.extra["response"] as object | undefined), ...named }
  }

  /** Notes what the provider has left out of the request. */
  warnings(warnings: LanguageModelV3GenerateResult["warnings"]): void {
    if (warnings.length > 0) this.extra["warnings"] = warnings
  }

  private complete(part: Exclude<LanguageModelV3Content, { readonly type: "text" | "reasoning" }>): void {
    switch (part.type) {
      case "tool-call":
        if (part.providerExecuted === true) return this.run(part)
        if (part.input.trim() !== "") return this.add({ tag: "Whole", part: toolCall(part) })
        this.add({ tag: "Bare", call: part, arguments: undefined })
        return
      case "tool-result": {
        const slot = this.open.get(`ToolCall ${part.toolCallId}`)
        if (slot?.tag !== "ToolCall" || part.preliminary === true) return
        this.open.delete(`ToolCall ${part.toolCallId}`)
        slot.result = part
        slot.ended = true
        return this.advance()
      }
      case "source":
      case "file": {
        const list = `${part.type}s`
        const { type: _type, ...rest } = part
        const data =
          "data" in rest && typeof rest.data !== "string" ? { ...rest, data: Encoding.encodeBase64(rest.data) } : rest
        this.extra[list] = [...((this.extra[list] as ReadonlyArray<unknown> | undefined) ?? []), data]
      }
    }
  }

  private run(call: LanguageModelV3ToolCall): void {
    const running: Running = { tag: "ToolCall", call, result: undefined, ended: false }
    this.open.set(`ToolCall ${call.toolCallId}`, running)
    this.add(running)
  }

  private start(tag: Piece["_tag"], id: string, metadata: Metadata): Block {
    const before = this.open.get(`${tag} ${id}`)
    if (before !== undefined) this.close(before)
    const block: Block = { tag, id, metadata, text: "", ended: false }
    this.open.set(`${tag} ${id}`, block)
    this.add(block)
    return block
  }

  private delta(tag: Piece["_tag"], id: string, delta: string, metadata: Metadata): void {
    const first = this.slots[0]
    const block = first?.tag === tag && first.id === id && !first.ended ? first : this.find(tag, id)
    block.metadata = merge(block.metadata, metadata)
    if (block === this.slots[0]) this.say(block, delta)
    else block.text += delta
  }

  /** A provider that does not say where a text begins begins it with its first piece. */
  private find(tag: Piece["_tag"], id: string): Block {
    const found = this.open.get(`${tag} ${id}`)
    return found === undefined || found.tag === "ToolCall" ? this.start(tag, id, undefined) : found
  }

  private end(tag: Piece["_tag"], id: string, metadata: Metadata): void {
    const block = this.open.get(`${tag} ${id}`)
    if (block === undefined || block.tag === "ToolCall") return
    block.metadata = merge(block.metadata, metadata)
    this.open.delete(`${tag} ${id}`)
    this.close(block)
  }

  private close(slot: Block | Running): void {
    slot.ended = true
    if (slot === this.slots[0]) this.advance()
  }

  /** The model has gone on, or has come to its end. */
  private dress(args: unknown): void {
    if (this.bare === undefined) return
    this.bare.arguments = args
    this.bare = undefined
    this.advance()
  }

  private add(slot: Slot): void {
    this.dress({})
    if (slot.tag === "Bare") this.bare = slot
    this.slots.push(slot)
    if (this.slots.length === 1) this.advance()
  }

  /** Passes on whatever has its turn now. */
  private advance(): void {
    let slot = this.slots[0]
    while (slot !== undefined) {
      if (slot.tag === "Whole") this.pass(slot.part)
      else if (slot.tag === "Bare") {
        if (slot === this.bare) return
        this.pass({ ...toolCall(slot.call), arguments: slot.arguments })
      } else if (slot.tag === "ToolCall") {
        if (!slot.ended) return
        this.pass(executedCall(slot))
      } else {
        this.say(slot, slot.text)
        slot.text = ""
        if (!slot.ended) return
        this.seal(slot)
      }
      this.slots.shift()
      slot = this.slots[0]
    }
  }

  private pass(part: ChatModel.ModelPart): void {
    this.unsealed = undefined
    this.ready.push(part)
  }

  private begin(tag: Piece["_tag"]): void {
    // Two texts of a provider stay two: what it notes with one of them is not about the other.
    if (this.unsealed === tag) this.ready.push({ _tag: tag, text: "", metadata: {} })
    this.unsealed = undefined
  }

  private say(block: Block, text: string): void {
    if (text === "") return
    if (this.unsealed !== undefined) this.begin(block.tag)
    this.ready.push({ _tag: block.tag, text })
    this.saying = true
  }

  private seal(block: Block): void {
    const hasSaid = this.saying
    this.saying = false
    if (block.metadata === undefined || Object.keys(block.metadata).length === 0) {
      if (hasSaid) this.unsealed = block.tag
      return
    }
    if (!hasSaid && this.unsealed !== undefined) this.begin(block.tag)
    this.ready.push({ _tag: block.tag, text: "", metadata: block.metadata })
  }
}

/** What ends a reply, streamed or not. */
export interface Ending {
  readonly finishReason: LanguageModelV3FinishReason
  readonly usage: LanguageModelV3Usage
  readonly providerMetadata?: SharedV3ProviderMetadata
}

/** Why the model stopped. A provider that says that its own reply went wrong has given none. */
const finishReason = ({ raw, unified }: LanguageModelV3FinishReason): ChatModel.FinishReason => {
  // Anthropic's, which its provider takes for an end.
  if (raw === "pause_turn") return "pause"
  if (unified !== "error") return unified
  throw new Errors.ModelError({
    reason: "InvalidResponse",
    message: `The provider ended its reply with an error${raw === undefined ? "" : ` (${raw})`}.`
  })
}

// -----------------------------------------------------------------------------
// tool calls
// -----------------------------------------------------------------------------

/** The arguments; the text itself where it is no JSON, so that the model is told what is wrong with it. */
const argumentsOf = (input: string): unknown => {
  if (input.trim() === "") return {}
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

const toolCall = (call: LanguageModelV3ToolCall): ChatModel.ToolCallPart => ({
  _tag: "ToolCall",
  id: call.toolCallId,
  name: call.toolName,
  arguments: argumentsOf(call.input),
  ...(call.providerMetadata && { metadata: call.providerMetadata })
})

const executedCall = ({ call, result }: Running): ChatModel.ToolCallPart => ({
  ...toolCall(call),
  outcome: outcome(result),
  metadata: {
    ...call.providerMetadata,
    [own]: {
      providerExecuted: true,
      ...(call.dynamic === true && { dynamic: true }),
      ...(result && { result: result.providerMetadata ? { metadata: result.providerMetadata } : {} })
    }
  }
})

const outcome = (result: LanguageModelV3ToolResult | undefined): Message.ToolOutcome => {
  if (result === undefined) return Message.failed("The provider has not said how this call ended.")
  return result.isError === true
    ? Message.failed("The tool of the provider failed.", result.result)
    : Message.succeeded(result.result)
}

// -----------------------------------------------------------------------------
// metadata
// -----------------------------------------------------------------------------

/** Providers make dates of what servers say. */
const isoDate = (date: Date): string | undefined => (Number.isNaN(date.getTime()) ? undefined : date.toISOString())
