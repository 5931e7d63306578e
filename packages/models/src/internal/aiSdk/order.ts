/**
 * The order in which a reply is passed on.
 */
import type { LanguageModelV3ToolCall, LanguageModelV3ToolResult, SharedV3ProviderMetadata } from "@ai-sdk/provider"
import type { ChatModel } from "@heddle/core"
import { merge } from "../providerMetadata.ts"
import { executedCall, toolCall } from "./toolCalls.ts"

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
export class Order {
  /** What can be passed on. Whoever takes it out empties it. */
  readonly ready: Array<ChatModel.ModelPart> = []
  private readonly open = new Map<string, Block | Running>()
  /** In the order of their beginning. The first one is passed on as it comes. */
  private readonly slots: Array<Slot> = []
  /** The text or thought that was passed on last, if it has no metadata: the next one of its kind must not join it. */
  private unsealed: Piece["_tag"] | undefined = undefined
  private bare: Bare | undefined = undefined
  /** Whether something of the first slot has been passed on. */
  private saying = false

  start(tag: Piece["_tag"], id: string, metadata: Metadata): Block {
    const before = this.open.get(`${tag} ${id}`)
    if (before !== undefined) this.close(before)
    const block: Block = { tag, id, metadata, text: "", ended: false }
    this.open.set(`${tag} ${id}`, block)
    this.add(block)
    return block
  }

  delta(tag: Piece["_tag"], id: string, delta: string, metadata: Metadata): void {
    const first = this.slots[0]
    const block = first?.tag === tag && first.id === id && !first.ended ? first : this.find(tag, id)
    block.metadata = merge(block.metadata, metadata)
    if (block === this.slots[0]) this.say(block, delta)
    else block.text += delta
  }

  end(tag: Piece["_tag"], id: string, metadata: Metadata): void {
    const block = this.open.get(`${tag} ${id}`)
    if (block === undefined || block.tag === "ToolCall") return
    block.metadata = merge(block.metadata, metadata)
    this.open.delete(`${tag} ${id}`)
    this.close(block)
  }

  /** A text or a thought in one piece. */
  piece(tag: Piece["_tag"], text: string, metadata: Metadata): void {
    this.add({ tag, id: "", text, metadata, ended: true })
  }

  call(call: LanguageModelV3ToolCall): void {
    if (call.providerExecuted === true) this.run(call)
    else if (call.input.trim() !== "") this.add({ tag: "Whole", part: toolCall(call) })
    else this.add({ tag: "Bare", call, arguments: undefined })
  }

  /** How a call has ended that the provider runs itself. */
  result(result: LanguageModelV3ToolResult): void {
    const slot = this.open.get(`ToolCall ${result.toolCallId}`)
    if (slot?.tag !== "ToolCall" || result.preliminary === true) return
    this.open.delete(`ToolCall ${result.toolCallId}`)
    slot.result = result
    slot.ended = true
    this.advance()
  }

  /** Passes on what has been waiting. Where the limit of tokens has ended the reply, it may have cut off arguments. */
  finish(reason: ChatModel.FinishReason): void {
    for (const slot of this.open.values()) slot.ended = true
    this.dress(reason === "length" ? "" : {})
    this.advance()
  }

  private run(call: LanguageModelV3ToolCall): void {
    const running: Running = { tag: "ToolCall", call, result: undefined, ended: false }
    this.open.set(`ToolCall ${call.toolCallId}`, running)
    this.add(running)
  }

  /** A provider that does not say where a text begins begins it with its first piece. */
  private find(tag: Piece["_tag"], id: string): Block {
    const found = this.open.get(`${tag} ${id}`)
    return found === undefined || found.tag === "ToolCall" ? this.start(tag, id, undefined) : found
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
        this.pass(executedCall(slot.call, slot.result))
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
