/** What the front matter of an agent can say. */
import { expecting, oneOf, optional, wholeFrom } from "@heddle/core/settings"
import { MemoryData } from "@heddle/memory/MemoryData"
import { RagData } from "@heddle/rag/RagData"
import * as Schema from "effect/Schema"

const Text = Schema.NonEmptyString.annotations(expecting("a text that is not empty"))
const Glob = Schema.NonEmptyString.annotations(expecting("a glob"))
const Name = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_-]{1,64}$/)).annotations(
  expecting("a name of letters, digits, _ and -, 64 at the most")
)

/** A value, or the environment variable in which it is. */
const Value = Schema.Union(Schema.String, Schema.Struct({ from: Text, prefix: optional(Schema.String) })).annotations(
  expecting("a text, or { from: the name of an environment variable }")
)
const Values = Schema.Record({ key: Schema.String, value: Value })

/** Which of a server's tools the agent has. */
const Chosen = { allow: optional(Schema.Array(Glob)), deny: optional(Schema.Array(Glob)) }

const McpServer = Schema.Union(
  Schema.Struct({
    command: Text,
    args: optional(Schema.Array(Schema.String)),
    env: optional(Values),
    ...Chosen
  }),
  Schema.Struct({ url: Text, headers: optional(Values), ...Chosen })
)

const HandlerUse = Schema.Union(
  Text,
  Schema.Struct({
    name: Text,
    options: optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
  })
)

/** What the front matter can say. Nothing has to be said. */
export const FrontMatter = Schema.Struct({
  /** How the agent is called: the name of its file unless said. */
  name: optional(Name),
  /** A name for people. */
  title: optional(Text),
  /** What it is good for: for people, and for agents that can ask it. */
  description: optional(Text),
  /** `provider/model`, or a name in `models` of the configuration. */
  model: optional(Text),
  ...MemoryData.fields,
  ...RagData.fields,
  /** Which tools it has, by name; `deny` wins. Without `allow`: those of `mcp` and `agents`. */
  tools: optional(Schema.Struct(Chosen)),
  /** Servers of the Model Context Protocol, by the name that stands before the names of their tools. */
  mcp: optional(Schema.Record({ key: Name, value: McpServer })),
  /** Agents that it can ask, as tools of their names. */
  agents: optional(Schema.Array(Name)),
  /** Handlers of the registry, in this order. */
  handlers: optional(Schema.Array(HandlerUse)),
  /** Calls of the model at the most in one run. */
  maxSteps: optional(wholeFrom(1)),
  /** At the limit of steps: fail, or answer with what is known. */
  onStepLimit: optional(oneOf("error", "answer")),
  /** The JSON Schema of the answer, which is then JSON. */
  output: optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
}).annotations({ identifier: "AgentFile" })
/** What the front matter can say. */
export type FrontMatter = typeof FrontMatter.Type
