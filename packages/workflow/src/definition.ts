/**
 * Workflows as data, as JSON or YAML has it: what a user, an editor or a model
 * writes. Steps name agents and functions of a registry, and conditions are
 * expressions, so that a definition can do nothing but what the registry can.
 * What it makes is built with the constructors of `Node` and `Workflow`.
 *
 * Expressions are [CEL](https://cel.dev): `value.score > 5 && size(value.items) == 3`.
 * `value` is the input of the node, as JSON has it: a field that is `undefined` is
 * not there (`has(value.x)`, or `value.?x.orValue(0)`), and every number is a
 * double, with which whole numbers can be mixed. There are no regular expressions.
 *
 * Around a node, the `timeout` is that of each attempt, `retry` repeats what failed
 * or took too long, and `onError` is what is left to do after the last attempt.
 *
 * Apart from `@heddle/workflow`, because it brings a reader of YAML and one of
 * expressions with it, which take longer to load than everything else.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { WorkflowDefinition } from "@heddle/workflow/definition"
 *
 * const text = `
 * name: article
 * node:
 *   type: sequence
 *   nodes:
 *     - { type: agent, name: draft, agent: writer, prompt: "'Write about ' + value.topic", retry: { times: 2 } }
 *     - { type: step, name: count, function: words }
 * `
 * const workflow = WorkflowDefinition.fromText(text, {
 *   agents: { writer: Agent.make({ name: "writer" }) },
 *   functions: { words: (draft) => String(draft).split(" ").length }
 * })
 * ```
 */
export * as WorkflowDefinition from "./internal/definition/WorkflowDefinition.ts"
