/** What the front matter of an agent can say. */
import { expecting, oneOf, optional, wholeFrom } from "@heddle/core/settings"
import { MemoryData } from "@heddle/memory/MemoryData"
import { MemorySettings } from "@heddle/memory/MemorySettings"
import { RagData } from "@heddle/rag/RagData"
import { RagSettings } from "@heddle/rag/RagSettings"
import * as Schema from "effect/Schema"
import { described, field, needed } from "./described.ts"

const Text = Schema.NonEmptyString.annotations(expecting("a text that is not empty"))
const Glob = Schema.String.pipe(Schema.length({ min: 1, max: 256 })).annotations(
  expecting("a glob of 256 characters at the most")
)
/** Whether it is a glob over names. */
export const isGlob = Schema.is(Glob)

/** How agents can be called. */
export const Name = Schema.String.pipe(Schema.pattern(/^(?!__proto__$)[A-Za-z0-9_-]{1,64}$/)).annotations(
  expecting("a name of letters, digits, _ and -, 64 at the most")
)

/** Stands before the names of tools, which have 64 characters at the most. */
const ServerName = Schema.String.pipe(Schema.pattern(/^(?!__proto__$)[A-Za-z0-9_-]{1,31}$/)).annotations(
  expecting("a name of letters, digits, _ and -, 31 at the most")
)

const isAddress = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { password, protocol, username } = new URL(url)
  return (protocol === "http:" || protocol === "https:") && username === "" && password === ""
}
const Address = Schema.String.pipe(Schema.filter(isAddress)).annotations(
  expecting("an address that begins with http:// or https://, without a user name or password")
)

/** A value, or the environment variable in which it is. */
const Value = Schema.Union(
  Schema.String,
  Schema.Struct({
    from: needed(Text, "The environment variable in which the value is."),
    prefix: field(Schema.String, "What stands before the value, such as `Bearer `.")
  })
).annotations(expecting("a text, or { from: the name of an environment variable }"))
const Values = Schema.Record({ key: Schema.String, value: Value })

const Globs = Schema.Array(Glob)

/** Which of a server's tools the agent has. */
const Chosen = {
  allow: field(Globs, "Globs over the server's names of its tools: those that the agent has. All of them unless said."),
  deny: field(Globs, "Globs over the server's names of its tools: those that the agent has not. It wins over `allow`.")
}

const McpServer = Schema.Union(
  Schema.Struct({
    command: needed(Text, "The program that is the server."),
    args: field(Schema.Array(Schema.String), "What the program is started with."),
    env: field(Values, "Variables of its environment, besides the usual few. A secret is named with `from`."),
    ...Chosen
  }),
  Schema.Struct({
    url: needed(Address, "The address of the server."),
    headers: field(Values, "Headers of each request. A secret is named with `from`."),
    ...Chosen
  })
).annotations(expecting("the key command, or the key url"))

const HandlerUse = Schema.Union(
  Text,
  Schema.Struct({
    name: needed(Text, "Its name in the registry."),
    options: field(
      Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations(expecting("an object of options")),
      "What it takes."
    )
  })
).annotations(expecting("the name of a handler, or { name, options }"))
/** Whether it names a handler. */
export const isUse = Schema.is(HandlerUse)

const Memory = Schema.Struct(
  described(MemorySettings.fields, {
    strategy:
      "`full` shows every exchange, `window` the last ones, `summary` a summary of what is older and the last ones. `window` unless said.",
    historyLimit: "Exchanges that are shown by `window`, and beside the summary by `summary`. 10 unless said.",
    summaryEnabled: "Whether summaries are written. Unless said: if the strategy is `summary`.",
    summaryTrigger: "Messages that a conversation has before it is summarized for the first time. 30 unless said.",
    summaryMinGrowth: "Messages that no summary covers yet, before the next is written. 6 unless said.",
    summaryMaxTokens: "Tokens that a summary may have. 512 unless said.",
    summaryModel: "The model that summarizes. That of the agent unless said."
  })
)

const Rag = Schema.Struct(
  described(RagSettings.fields, {
    mode: "`none` searches nothing, `stuff` quotes what was found, `map_reduce` has the model take notes on each passage first. `stuff` unless said.",
    topK: "Passages that are searched for; with 0 nothing is searched. 5 unless said.",
    minScore: "Passages with a lower score, from 0 to 1, are left out. 0 unless said.",
    useSummary: "Of `stuff`: whether the model makes one text of the passages first. `false` unless said.",
    mapMaxChunks: "Of `map_reduce`: passages that notes are taken on, the best. 5 unless said.",
    concurrency: "Of `map_reduce`: calls of the model at once. 4 unless said.",
    maxCharacters: "Characters of what is quoted. 12000 unless said.",
    searchTimeout: "For the search: a time such as `10 seconds`, or milliseconds. 10 seconds unless said.",
    mapTimeout: "For the notes on one passage. 30 seconds unless said.",
    reduceTimeout: "For making one text of notes or of passages. 1 minute unless said.",
    onFailure:
      "What happens when the search fails: `continue` goes on with a warning, `fail` fails the run. `continue` unless said.",
    notesModel: "The model that takes notes. That of the agent unless said.",
    citations: "Whether the model is asked to cite passages by their numbers. `true` unless said."
  })
)

/** What keys are for that stand inside of others, by their paths. */
export const innerTexts: Readonly<Record<string, string>> = {
  "contextWindow.exchanges": "Exchanges that are shown, the last ones.",
  "contextWindow.tokens": "Tokens that are shown, of the last messages.",
  "report.summary": "Whether the conversation is told a summary of what the agent did.",
  "report.maxCharacters": "Characters that the report may have.",
  "report.toolCalls": "Whether the report has the calls of tools.",
  "report.errors": "Whether failures are reported.",
  "ragFilter.collection": "The collection that is searched.",
  "ragFilter.sources": "Globs over the paths of documents.",
  "ragFilter.metadata": "What documents have to say of themselves."
}

/** What the front matter can say. Nothing has to be said. */
export const FrontMatter = Schema.Struct({
  name: field(Name, "How the agent is called. The name of its file unless said."),
  title: field(Text, "A name for people."),
  description: field(Text, "What it is good for: for people, and for agents that can ask it."),
  model: field(Text, "The model that answers: `provider/model`, or a name in `models` of the configuration."),
  ...described(
    { ...MemoryData.fields, memory: optional(Memory) },
    {
      contextMode:
        "What the agent sees of the conversation: `isolated` its own part alone, `shared` all of it, `hybrid` its own part, of which it reports to all, `selective` what fits `sharePatterns`, `summarized` a summary, `fork` a copy. `isolated` unless said.",
      contextWindow: "How much of a conversation is shown: a number of exchanges, `{ exchanges }` or `{ tokens }`.",
      sharePatterns: "Of `selective`: globs over the messages that are shown.",
      shareLookBack: "Of `selective`: exchanges that are looked through, the last ones.",
      summarizeAfter: "Of `summarized`: messages after which a summary is written.",
      shareToolCalls: "Of `shared`: whether calls of tools are added to the conversation.",
      report: "Of `hybrid`: what the report to the conversation has.",
      memory: "How much of its own conversation the agent is shown."
    }
  ),
  ...described(
    { ...RagData.fields, rag: optional(Rag) },
    {
      rag: "How passages of the project's index are used, which `heddle index` fills.",
      ragFilter: "Which documents of the index are searched."
    }
  ),
  tools: field(
    Schema.Struct({
      allow: field(Globs, "Globs over the names of tools: those that the agent has."),
      deny: field(Globs, "Globs over the names of tools: those that the agent has not. It wins over `allow`.")
    }),
    "Which tools it has, by name. Without `allow`: those of `mcp` and `agents`."
  ),
  mcp: field(
    Schema.Record({ key: ServerName, value: McpServer }),
    "Servers of the Model Context Protocol, by the name that stands before the names of their tools."
  ),
  agents: field(Schema.Array(Name), "Agents that it can ask, as tools of their names."),
  handlers: field(Schema.Array(HandlerUse), "Handlers of the registry, in this order."),
  maxSteps: field(wholeFrom(1), "Calls of the model in one run, at the most."),
  onStepLimit: field(oneOf("error", "answer"), "At the limit of steps: fail, or answer with what is known."),
  output: field(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations(expecting("a JSON Schema")),
    "The JSON Schema of the answer, which is then JSON."
  )
}).annotations({ identifier: "AgentFile" })
/** What the front matter can say. */
export type FrontMatter = typeof FrontMatter.Type
