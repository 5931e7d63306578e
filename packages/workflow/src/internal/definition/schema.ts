/**
 * What a definition looks like, as a Schema.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { HistoryFormat } from "../../HistoryFormat.ts"
import { RunStatus } from "../../RunRecord.ts"
import type * as Data from "./data.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Says what is expected in place of all that the Schema library would say, of what is inside, too. */
const expecting = (title: string) => ({
  title,
  message: () => ({ message: `expected ${title}`, override: true })
})

/** Says what has to be there, where something of another kind is: the Schema library would tell of names that only this file knows. */
const must = (what: string) => ({
  message: ({ actual }: { readonly actual: unknown }) => ({
    message: `must be ${what}, and is ${shown(actual)}`,
    // What is wrong inside of one of the right kind is told of itself.
    override: false
  })
})
const anObject = must("an object")

const shown = (value: unknown): string => {
  if (value === null) return "nothing"
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object"
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

const wholeFrom = (least: number) =>
  Schema.Int.pipe(Schema.greaterThanOrEqualTo(least)).annotations(expecting(`a whole number from ${least}`))

const oneOf = <const Words extends readonly [string, ...Array<string>]>(...words: Words) =>
  Schema.Literal(...words).annotations(expecting(words.map((word) => JSON.stringify(word)).join(" or ")))

const Name = Schema.String.pipe(Schema.pattern(/\S/)).annotations(expecting("a name"))

const units = "nanos?|micros?|millis?|seconds?|minutes?|hours?|days?|weeks?"
const durationPattern = `^\\d+(\\.\\d+)? (${units})$`

const durationOf = (title: string, isRight: (millis: number) => boolean) =>
  Schema.Union(
    Schema.String.pipe(
      Schema.filter(
        (text) =>
          new RegExp(durationPattern).test(text) &&
          Option.exists(Duration.decodeUnknown(text), (duration) => isRight(Duration.toMillis(duration))),
        { jsonSchema: { pattern: durationPattern } }
      )
    ),
    Schema.Number.pipe(Schema.filter((millis) => Number.isFinite(millis) && isRight(millis), { jsonSchema: {} }))
  ).annotations(expecting(title))

const DurationData: Schema.Schema<Data.DurationData> = durationOf(
  'a duration: milliseconds, or such as "30 seconds"',
  (millis) => millis >= 0
)
const Positive: Schema.Schema<Data.DurationData> = durationOf(
  'a duration of more than 0: milliseconds, or such as "30 seconds"',
  (millis) => millis > 0
)

const FormatData: Schema.Schema<Partial<HistoryFormat>> = Schema.Struct({
  header: optional(Schema.String),
  footer: optional(Schema.String),
  inputLabel: optional(Schema.String),
  outputLabel: optional(Schema.String),
  includeInput: optional(Schema.Boolean),
  includeOutput: optional(Schema.Boolean),
  includeTimestamp: optional(Schema.Boolean),
  maxCharacters: optional(wholeFrom(0))
}).annotations(anObject)

/** Whether something has the shape of a format. */
export const isFormat = Schema.is(FormatData)

const HistoryData: Schema.Schema<Data.HistoryData> = Schema.Struct({
  mode: optional(oneOf("inherit", "on", "off")),
  runs: optional(
    Schema.Union(Schema.Literal("inherit", "all"), wholeFrom(0)).annotations(
      expecting('"inherit", "all" or a whole number from 0')
    )
  ),
  statuses: optional(
    Schema.Array(RunStatus)
      .annotations(must("a list of statuses"))
      .pipe(Schema.minItems(1, { message: () => 'expected one status at least; "mode" turns history off' }))
  ),
  format: optional(FormatData)
}).annotations({ identifier: "History", ...anObject })

const RetryData: Schema.Schema<Data.RetryData> = Schema.Struct({
  times: optional(wholeFrom(0)),
  delay: optional(DurationData),
  factor: optional(Schema.Number.pipe(Schema.between(1, 1000)).annotations(expecting("a number from 1 to 1000"))),
  maxDelay: optional(DurationData)
}).annotations({ identifier: "Retry", ...anObject })

const Settlement = Schema.Union(
  Schema.Literal("fail-fast", "settle"),
  Schema.Struct({ atLeast: wholeFrom(0) })
).annotations(expecting('"fail-fast", "settle" or { "atLeast": a whole number from 0 }'))

const Child = Schema.suspend((): Schema.Schema<Data.NodeDefinition> => NodeSchema)
const children = Schema.Record({ key: Schema.String, value: Child }).pipe(
  Schema.annotations(must("an object of nodes")),
  Schema.filter((copy) => Object.keys(copy).length > 0 || hasProto(copy) || "expected one entry at least", {
    jsonSchema: { minProperties: 1 }
  })
)
/** The Schema library sets the fields of its copy one by one, so that one named `__proto__` becomes the copy's prototype. */
const hasProto = (copy: object) => Object.getPrototypeOf(copy) !== Object.prototype

/** Says nothing: that an object is none of the words is not what is wrong with it. */
const word = <const Word extends string>(word: Word) => Schema.Literal(word).annotations({ message: () => "" })

const OnError = Schema.Union(word("fail"), word("skip"), Schema.Struct({ fallback: Child })).annotations({
  message: ({ actual }) => ({
    message: 'expected "fail", "skip" or { "fallback": a node }',
    // What is wrong inside of a fallback is told of itself.
    override: typeof actual !== "object" || actual === null || Array.isArray(actual)
  })
})

const around = {
  timeout: optional(Positive),
  retry: optional(RetryData),
  onError: optional(OnError),
  history: optional(HistoryData)
}
const beside = { settlement: optional(Settlement), concurrency: optional(wholeFrom(1)) }
const Options = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations(anObject)
const Expression = Schema.String.annotations(must("a CEL expression"))

const node = <Type extends string, Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.Literal(type), ...fields, ...around })

const NodeSchema: Schema.Schema<Data.NodeDefinition> = Schema.Union(
  node("agent", { name: Name, agent: Schema.String, prompt: optional(Expression), options: optional(Options) }),
  node("step", { name: Name, function: Schema.String }),
  node("sequence", {
    name: optional(Name),
    nodes: Schema.Array(Child)
      .annotations(must("a list of nodes"))
      .pipe(Schema.minItems(1, { message: () => "expected one node at least" }))
  }),
  // oxlint-disable-next-line unicorn/no-thenable -- not a function, so nothing waits for it
  node("condition", { name: Name, if: Expression, then: Child, else: optional(Child) }),
  node("loop", {
    name: Name,
    body: Child,
    while: optional(Expression),
    until: optional(Expression),
    max: wholeFrom(1),
    onMax: optional(oneOf("fail", "stop"))
  }),
  node("parallel", { name: Name, branches: children, ...beside }),
  node("each", { name: Name, body: Child, ...beside }),
  node("router", { name: Name, choose: Expression, routes: children }),
  node("workflow", { name: optional(Name), workflow: Schema.String })
).annotations({ identifier: "Node", ...anObject })

/** The Schema of a definition. */
export const schema: Schema.Schema<Data.WorkflowDefinition> = Schema.Struct({
  name: Name,
  node: Child,
  history: optional(HistoryData),
  maxNodes: optional(wholeFrom(1)),
  onHistoryUnavailable: optional(oneOf("fail", "continue")),
  workflows: optional(
    Schema.Record({
      key: Schema.String,
      value: Schema.Struct({ name: optional(Name), node: Child, history: optional(HistoryData) }).annotations(anObject)
    }).annotations(must("an object of workflows"))
  )
}).annotations({ identifier: "WorkflowDefinition", ...anObject })
