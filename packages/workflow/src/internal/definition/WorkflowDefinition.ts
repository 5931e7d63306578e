/**
 * What `@heddle/workflow/definition` offers.
 */
import type { Agent } from "@heddle/core"
import type { Reader } from "@heddle/core/settings"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import type * as Schema from "effect/Schema"
import type { HistoryStore } from "../../HistoryStore.ts"
import { build } from "./build.ts"
import { compiler, nodesWithOptions, problemsOf } from "./check.ts"
import type * as Data from "./data.ts"
import { schema } from "./schema.ts"
import { optionsOf } from "./options.ts"
import { readText } from "./text.ts"
import { plainCopy } from "./value.ts"
import type { ContextOf, ErrorOf } from "../../Node.ts"
import type { Workflow } from "../../Workflow.ts"
import {
  type ExpressionFailed,
  InvalidDefinition,
  type LoopLimitReached,
  type NodeTimeout,
  type Problem,
  type TooFewSucceeded,
  type UnknownRoute
} from "../../WorkflowErrors.ts"

export type { Around, Beside, DurationData, HistoryData, InnerDefinition, NodeDefinition, RetryData } from "./data.ts"

/** A workflow as plain data. */
export type WorkflowDefinition = Data.WorkflowDefinition

/**
 * The Schema of a definition. It sees the shape of it; what is wrong with names,
 * expressions and references, `compile` says.
 */
export const WorkflowDefinition: Schema.Schema<WorkflowDefinition> = schema

/** The JSON Schema of a definition, for editors. */
export const jsonSchema: JSONSchema.JsonSchema7Root = JSONSchema.make(schema)

/** What a definition can name. */
export interface Registry {
  readonly agents?: Readonly<Record<string, Agent.Any>>
  /** Each gives a value, or an Effect that gives it. Whether the input is what it needs, it has to see for itself. */
  readonly functions?: Readonly<Record<string, (input: unknown) => unknown>>
  /** Make options of an agent's run of what its step has as `options`: each of its own keys. What one reads no other may. */
  readonly agentOptions?: ReadonlyArray<Reader<Agent.CallOptions>>
}

/** What a workflow of a definition may fail with besides what agents and functions of the registry do. */
export type DefinedError = ExpressionFailed | LoopLimitReached | NodeTimeout | TooFewSucceeded | UnknownRoute

type ValueOf<A> = NonNullable<A>[keyof NonNullable<A>]
type AgentOf<Reg> = Reg extends { readonly agents?: infer Agents } ? ValueOf<Agents> : never
type ResultOf<Reg> = Reg extends { readonly functions?: infer Functions } ? ResultOfAny<ValueOf<Functions>> : never
type ResultOfAny<F> = F extends (input: unknown) => infer Result ? Result : never

/** What the agents and functions of a registry fail with. */
export type Error<Reg extends Registry> = Agent.Error<AgentOf<Reg>> | ErrorOf<ResultOf<Reg>>

/** What the agents and functions of a registry need. */
export type Context<Reg extends Registry> = Agent.Context<AgentOf<Reg>> | ContextOf<ResultOf<Reg>>

/**
 * Makes a workflow of a definition. Fails with all that is wrong with it at once.
 * Whether it shows history is not in the type, so a run of it is one of a session.
 */
export const compile = <const Reg extends Registry>(
  definition: unknown,
  registry: Reg
): Effect.Effect<
  Workflow<unknown, unknown, Error<Reg> | DefinedError, Context<Reg> | HistoryStore>,
  InvalidDefinition
> =>
  Effect.gen(function* () {
    const plain = plainCopy(definition)
    if (Either.isLeft(plain)) return yield* new InvalidDefinition({ problems: [plain.left] })
    const { agentOptions = [], agents = {}, functions = {} } = registry
    const compile = compiler()
    const names = { agents: Object.keys(agents), functions: Object.keys(functions) }
    const { options, problems } = yield* optionsIn(plain.right, agentOptions)
    const all = [...problemsOf(plain.right, names, compile), ...problems]
    if (all.length > 0) return yield* new InvalidDefinition({ problems: all })
    // The Schema has found nothing wrong, and it changes nothing; the types of the parts are those of the registry.
    const workflow = build(plain.right as WorkflowDefinition, { agents, functions, compile, options })
    return workflow as Workflow<unknown, unknown, never, HistoryStore>
  })

/** Reads the options of all agents' runs. */
const optionsIn = (definition: unknown, readers: ReadonlyArray<Reader<Agent.CallOptions>>) =>
  Effect.gen(function* () {
    const options = new Map<unknown, Agent.CallOptions>()
    const problems: Array<Problem> = []
    for (const { node, options: data, path } of nodesWithOptions(definition)) {
      const read = yield* optionsOf(data, readers)
      problems.push(...read.problems.map((message) => ({ path, message })))
      options.set(node, read.options)
    }
    return { options, problems }
  })

/** Reads YAML or JSON as plain data. Fails with what is wrong with the text, by line and column. */
export const parse = (text: string): Effect.Effect<unknown, InvalidDefinition> =>
  Effect.suspend(() => {
    const read = readText(text)
    return "value" in read ? Effect.succeed(read.value) : new InvalidDefinition(read)
  })

/** Makes a workflow of YAML or JSON: `parse`, then `compile`. */
export const fromText = <const Reg extends Registry>(
  text: string,
  registry: Reg
): Effect.Effect<
  Workflow<unknown, unknown, Error<Reg> | DefinedError, Context<Reg> | HistoryStore>,
  InvalidDefinition
> => Effect.flatMap(parse(text), (definition) => compile(definition, registry))
