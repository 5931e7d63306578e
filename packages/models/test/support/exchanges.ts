/**
 * Streamed replies in the documented formats of the providers: a thought with what
 * the provider wants back of it, a text, and the call of a tool.
 */
import { providers, type Provider } from "./models.ts"
import { sse } from "./wire.ts"

export interface Exchange {
  readonly provider: Provider
  readonly body: string
  /** What the next request has to say of this reply. */
  readonly sentBack: ReadonlyArray<string>
}

export const text = "Let me see. ✓"
export const thought = "Hm, 18 🌤 degrees?"
const signature = "c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=="

const anthropic = sse([
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens: 1 }
    }
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm, 18 🌤 " } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "degrees?" } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" } },
  { type: "content_block_stop", index: 1 },
  { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "Let me " } },
  { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "see. ✓" } },
  { type: "content_block_stop", index: 2 },
  {
    type: "content_block_start",
    index: 3,
    content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} }
  },
  { type: "content_block_delta", index: 3, delta: { type: "input_json_delta", partial_json: '{"city":' } },
  { type: "content_block_delta", index: 3, delta: { type: "input_json_delta", partial_json: '"Paris"}' } },
  { type: "content_block_stop", index: 3 },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { input_tokens: 20, output_tokens: 30 }
  },
  { type: "message_stop" }
])

const candidate = (parts: ReadonlyArray<object>, rest: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...rest }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10, thoughtsTokenCount: 20, totalTokenCount: 50 },
  modelVersion: "gemini-2.5-flash",
  responseId: "resp_1"
})
const google = sse([
  candidate([{ text: "Hm, 18 🌤 ", thought: true }]),
  candidate([{ text: "degrees?", thought: true }]),
  candidate([{ text: "Let me " }]),
  candidate([{ text: "see. ✓" }]),
  candidate([{ functionCall: { name: "weather", args: { city: "Paris" } }, thoughtSignature: signature }], {
    finishReason: "STOP"
  })
])

const reasoningItem = { id: "rs_1", type: "reasoning", summary: [] }
const messageItem = { id: "msg_1", type: "message", status: "in_progress", role: "assistant", content: [] }
const callItem = { id: "fc_1", type: "function_call", status: "in_progress", call_id: "call_1", name: "weather" }
const response = { id: "resp_1", object: "response", created_at: 1_741_290_958, model: "gpt-5", output: [] }
const openai = sse([
  { type: "response.created", response: { ...response, status: "in_progress" } },
  { type: "response.output_item.added", output_index: 0, item: { ...reasoningItem, encrypted_content: "" } },
  { type: "response.reasoning_summary_part.added", item_id: "rs_1", output_index: 0, summary_index: 0 },
  {
    type: "response.reasoning_summary_text.delta",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 0,
    delta: "Hm, 18 🌤 degrees?"
  },
  { type: "response.reasoning_summary_part.done", item_id: "rs_1", output_index: 0, summary_index: 0 },
  {
    type: "response.output_item.done",
    output_index: 0,
    item: { ...reasoningItem, summary: [{ type: "summary_text", text: thought }], encrypted_content: signature }
  },
  { type: "response.output_item.added", output_index: 1, item: messageItem },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta: "Let me " },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta: "see. ✓" },
  {
    type: "response.output_item.done",
    output_index: 1,
    item: { ...messageItem, status: "completed", content: [{ type: "output_text", text, annotations: [] }] }
  },
  { type: "response.an_event_of_tomorrow", sequence_number: 9 },
  { type: "response.output_item.added", output_index: 2, item: { ...callItem, arguments: "" } },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '{"city":"Paris"}' },
  {
    type: "response.output_item.done",
    output_index: 2,
    item: { ...callItem, status: "completed", arguments: '{"city":"Paris"}' }
  },
  {
    type: "response.completed",
    response: {
      ...response,
      status: "completed",
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 50
      }
    }
  }
])

const choice = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_741_290_958,
  model: "llama3.2",
  choices: [{ index: 0, delta, finish_reason }]
})
const call = (index: number, rest: object) => ({ tool_calls: [{ index, ...rest }] })
const compatible = sse([
  choice({ role: "assistant", reasoning_content: "Hm, 18 🌤 " }),
  choice({ reasoning_content: "degrees?" }),
  choice({ content: "Let me " }),
  choice({ content: "see. ✓" }),
  choice(call(0, { id: "call_1", type: "function", function: { name: "weather", arguments: "" } })),
  choice(call(0, { function: { arguments: '{"city":"Paris"' } })),
  choice(call(0, { function: { arguments: "}" } })),
  choice({}, "tool_calls"),
  { ...choice({}), choices: [], usage: { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 } },
  "[DONE]"
])

/** OpenAI keeps nothing, so all of a reply is sent back. */
const unstored = { provider: { openai: { store: false, include: ["reasoning.encrypted_content"] } } }

export const exchanges: Readonly<Record<string, Exchange>> = {
  anthropic: {
    provider: providers.anthropic,
    body: anthropic,
    sentBack: [signature, thought, "cmVkYWN0ZWQ=", text, '"id":"toolu_1"']
  },
  google: { provider: providers.google, body: google, sentBack: [signature, thought, text] },
  openai: {
    provider: { ...providers["openai, responses"], options: unstored },
    body: openai,
    sentBack: [signature, thought, text, '"rs_1"', '"call_1"']
  },
  "openai, with what it has stored": {
    provider: providers["openai, responses"],
    body: openai,
    sentBack: ['{"type":"item_reference","id":"rs_1"}', '{"type":"item_reference","id":"msg_1"}']
  },
  "openai-compatible": {
    provider: providers["openai-compatible"],
    body: compatible,
    sentBack: [thought, text, '"id":"call_1"']
  }
}
