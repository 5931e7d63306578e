/**
 * The parts of a response of @effect/ai, streamed or not, as parts of a reply.
 */
import type * as Response from "@effect/ai/Response"
import { type ChatModel, Message } from "@heddle/core"
import { said } from "@heddle/core/settings"
import * as DateTime from "effect/DateTime"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import { merge } from "../providerMetadata.ts"
import { field, fromTheirs, type Theirs } from "./metadata.ts"

/** A part as they decode it, or as a provider gave it. */
export type TheirPart = Response.AnyPart | Response.AnyPartEncoded

/** Reads the parts of one response, in their order. */
export interface Reader {
  readonly read: (part: TheirPart) => ReadonlyArray<ChatModel.ModelPart>
  /** Whether the response has said that it is at its end. */
  readonly finished: () => boolean
}

const own = "effectAi"

/** Whether a provider has run the tool itself: what it called and found is sent back as the model's own words. */
export const ranByProvider = (call: Pick<Message.ToolCall, "metadata">): boolean =>
  call.metadata !== undefined && own in call.metadata

interface Thought {
  text: string
  metadata: Theirs | undefined
  ended: boolean
}

/** Makes a reader for one response. */
export const reader = (): Reader => {
  let out: Array<ChatModel.ModelPart> = []
  // Thoughts that have begun, by id. Only the first is told as it comes: pieces of two must not mix.
  const thoughts = new Map<unknown, Thought>()
  // The thought that the last content belongs to, if it has no metadata to close it.
  let unsigned: Thought | undefined
  /** What is to be sent back with texts that have not come to their end. */
  const texts = new Map<unknown, Theirs | undefined>()
  // Calls that the provider runs itself, until their results come.
  const running = new Map<string, ChatModel.ToolCallPart>()
  const more = new Extras()
  let finished = false

  const say = (part: ChatModel.ModelPart) => {
    unsigned = undefined
    out.push(part)
  }
  const text = (said: string, theirs: Theirs | undefined) => {
    const metadata = field(fromTheirs(theirs))
    if (said !== "" || "metadata" in metadata) say({ _tag: "Text", text: said, ...metadata })
  }
  const think = (thought: Thought, metadata?: Message.Metadata) => {
    if (thought.text === "" && metadata === undefined) return
    if (unsigned !== undefined && unsigned !== thought) out.push({ _tag: "Reasoning", text: "", metadata: {} })
    out.push({ _tag: "Reasoning", text: thought.text, ...field(metadata) })
    thought.text = ""
    unsigned = metadata === undefined ? thought : undefined
  }
  const tellThoughts = () => {
    for (const [id, thought] of thoughts) {
      think(thought, thought.ended ? fromTheirs(thought.metadata) : undefined)
      if (!thought.ended) return
      thoughts.delete(id)
    }
  }
  const thought = (id: unknown, text: string, metadata: Theirs | undefined, ended: boolean) => {
    const open = thoughts.get(id) ?? { text: "", metadata: undefined, ended }
    open.text += text
    open.metadata = merge(open.metadata, metadata)
    open.ended = ended
    thoughts.set(id, open)
    tellThoughts()
  }
  const finish = (part: Extract<TheirPart, { readonly type: "finish" }>) => {
    for (const open of thoughts.values()) open.ended = true
    tellThoughts()
    for (const call of running.values()) say({ ...call, outcome: Message.failed("The provider gave no result.") })
    finished = true
    more.finish(part)
    out.push({
      _tag: "Finish",
      reason: reasonOf(part.reason),
      usage: { inputTokens: part.usage.inputTokens ?? 0, outputTokens: part.usage.outputTokens ?? 0 },
      ...field(more.with(fromTheirs(part.metadata)))
    })
  }
  const read = (part: TheirPart): void => {
    switch (part.type) {
      case "text":
        return text(part.text, part.metadata)
      case "text-start":
        texts.set(part.id, part.metadata)
        return
      case "text-delta":
        texts.set(part.id, merge(texts.get(part.id), part.metadata))
        return text(part.delta, undefined)
      case "text-end": {
        const before = texts.get(part.id)
        texts.delete(part.id)
        return text("", merge(before, part.metadata))
      }
      case "reasoning":
        return thought(part, part.text, part.metadata, true)
      case "reasoning-start":
        return thought(part.id, "", part.metadata, false)
      case "reasoning-delta":
        return thought(part.id, part.delta, part.metadata, false)
      case "reasoning-end":
        return thought(part.id, "", part.metadata, true)
      case "tool-call": {
        const metadata = fromTheirs(part.metadata)
        const call = { _tag: "ToolCall", id: part.id, name: part.name, arguments: part.params } as const
        if (part.providerExecuted !== true) return say({ ...call, ...field(metadata) })
        running.set(part.id, { ...call, metadata: { ...metadata, [own]: { providerExecuted: true } } })
        return
      }
      case "tool-result": {
        const call = running.get(part.id)
        if (call === undefined) return
        running.delete(part.id)
        const result: unknown = "encodedResult" in part ? part.encodedResult : part.result
        const outcome = part.isFailure
          ? Message.failed(`Tool "${call.name}" failed.`, result)
          : Message.succeeded(result)
        return say({ ...call, outcome })
      }
      case "finish":
        return finish(part)
      default:
        return more.add(part)
    }
  }
  return {
    read: (part) => {
      out = []
      read(part)
      return out
    },
    finished: () => finished
  }
}

const reasonOf = (reason: Response.FinishReason): ChatModel.FinishReason =>
  reason === "error" || reason === "unknown" ? "other" : reason

/** What a reply has no place for. It goes along in its metadata. */
class Extras {
  private readonly fields: Record<string, unknown> = {}
  private readonly sources: Array<unknown> = []
  private readonly files: Array<unknown> = []

  add(part: TheirPart): void {
    if (part.type === "source") {
      const { metadata, title, type: _type, ...rest } = part
      const place = "url" in rest ? { url: String(rest.url) } : { mediaType: rest.mediaType, fileName: rest.fileName }
      this.sources.push(
        said({ sourceType: rest.sourceType, id: rest.id, title, ...place, ...field(fromTheirs(metadata)) })
      )
    } else if (part.type === "file") {
      const data = typeof part.data === "string" ? part.data : Encoding.encodeBase64(part.data)
      this.files.push({ mediaType: part.mediaType, data })
    } else if (part.type === "response-metadata") {
      const timestamp = plain(part.timestamp)
      this.fields["response"] = said({
        id: plain(part.id),
        modelId: plain(part.modelId),
        timestamp: DateTime.isDateTime(timestamp) ? DateTime.formatIso(timestamp) : timestamp
      })
    }
  }
  finish({ reason, usage }: Extract<TheirPart, { readonly type: "finish" }>): void {
    if (reasonOf(reason) !== reason) this.fields["reason"] = reason
    const { cachedInputTokens, reasoningTokens } = usage
    const counts = said({ cachedInputTokens, reasoningTokens })
    if (Object.keys(counts).length > 0) this.fields["usage"] = counts
  }
  with(metadata: Message.Metadata | undefined): Message.Metadata | undefined {
    if (this.sources.length > 0) this.fields["sources"] = this.sources
    if (this.files.length > 0) this.fields["files"] = this.files
    return Object.keys(this.fields).length === 0 ? metadata : { ...metadata, [own]: this.fields }
  }
}

const plain = (value: unknown): unknown => (Option.isOption(value) ? Option.getOrUndefined(value) : value)
