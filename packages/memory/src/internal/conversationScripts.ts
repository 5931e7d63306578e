/**
 * Random scripts of what can be done with conversations, and what is seen of a
 * store that one is run on: the same of every store.
 */
import { Message } from "@heddle/core"
import { Arbitraries } from "@heddle/testing"
import { numbers, shown, Violation } from "@heddle/testing/Rules"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import type * as Layer from "effect/Layer"
import {
  type ConversationInfo,
  type ConversationKey,
  Conversations,
  layerMemory,
  type ListOptions,
  main,
  type NewExchange,
  own,
  type Range,
  type Service
} from "../Conversations.ts"
import { at } from "./conversationChecks.ts"

/** How hard to try. */
export interface AgreementOptions {
  /** How many scripts. @default 50 */
  readonly runs?: number
  /** Repeats the scripts of a failure. */
  readonly seed?: number
}

/** What a conversation is expected to be: none, what was seen of it last, or what was seen before that. */
type Expected = "none" | "last" | "before"

type Step =
  | { readonly do: "read"; readonly key: ConversationKey; readonly range: Range }
  | { readonly do: "append"; readonly key: ConversationKey; readonly exchange: NewExchange }
  | {
      readonly do: "replace"
      readonly key: ConversationKey
      readonly exchanges: ReadonlyArray<NewExchange>
      readonly expected: Expected
    }
  | {
      readonly do: "summarize"
      readonly key: ConversationKey
      readonly text: string
      readonly through: number
      readonly expected: Expected
    }
  | { readonly do: "clear" | "remove"; readonly key: ConversationKey }
  | { readonly do: "list"; readonly options: ListOptions }

/** Rejects with a `Violation`, which has a shrunken script, if a store is told from the one in memory by what it does. */
export const checkAgreement = <E>(
  layer: Layer.Layer<Conversations, E>,
  { runs = 50, seed }: AgreementOptions = {}
): Promise<void> =>
  FastCheck.assert(
    FastCheck.asyncProperty(script, async (steps) => {
      const wanted = await Effect.runPromise(Effect.provide(seen(steps), layerMemory({ maxConversations: Infinity })))
      const found = await Effect.runPromise(Effect.provide(seen(steps), layer))
      const place = wanted.findIndex((observation, n) => observation !== found[n])
      if (place === -1) return
      throw new Violation(`After step ${place + 1}: found ${found[place]} instead of ${wanted[place]}`)
    }),
    { numRuns: runs, ...(seed !== undefined && { seed }) }
  )

// -----------------------------------------------------------------------------
// running
// -----------------------------------------------------------------------------

/** What each step of a script gives, and each conversation and the list at the end, as JSON. */
const seen = (steps: ReadonlyArray<Step>): Effect.Effect<ReadonlyArray<string>, never, Conversations> =>
  Effect.flatMap(Conversations, (store) => {
    const infos = new Map<string, ReadonlyArray<ConversationInfo>>()
    const generations = new Map<string, number>()
    const all = [...steps, ...ending]
    // Two minutes between steps: every reading is noted.
    return Effect.forEach(all, (step, n) =>
      Effect.map(Effect.exit(at(2 * n, take(store, step, infos))), (exit) => {
        if (Exit.isFailure(exit)) return failure(exit.cause)
        if (step.do !== "list") note(infos, step.key, exit.value)
        return observed(exit.value, generations)
      })
    )
  })

const take = (
  store: Service,
  step: Step,
  infos: ReadonlyMap<string, ReadonlyArray<ConversationInfo>>
): Effect.Effect<unknown, unknown> => {
  switch (step.do) {
    case "read":
      return store.read(step.key, step.range)
    case "append":
      return store.append(step.key, step.exchange)
    case "replace":
      return store.replace(step.key, step.exchanges, expectation(infos, step.key, step.expected))
    case "summarize":
      return store.summarize(step.key, step, expectation(infos, step.key, step.expected) ?? never)
    case "clear":
      return store.clear(step.key)
    case "remove":
      return store.remove(step.key)
    case "list":
      return store.list(step.options)
  }
}

const expectation = (
  infos: ReadonlyMap<string, ReadonlyArray<ConversationInfo>>,
  key: ConversationKey,
  expected: Expected
): ConversationInfo | undefined =>
  expected === "none" ? undefined : infos.get(shown(key))?.at(expected === "last" ? -1 : -2)

/** What no conversation is. */
const never = { generation: "never", summarized: 0 }

/** Remembers what was told of a conversation. */
const note = (infos: Map<string, ReadonlyArray<ConversationInfo>>, key: ConversationKey, told: unknown): void => {
  // What `read` gives has an `info`, if there is one; other values are an `info`, or say yes or no.
  const { info = told } = told as { readonly info?: unknown }
  if (typeof info !== "object" || info === null || !("generation" in info)) return
  infos.set(shown(key), [...(infos.get(shown(key)) ?? []), info as ConversationInfo])
}

const failure = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return typeof error === "object" && error !== null && "_tag" in error
    ? `fails: ${String(error._tag)}`
    : `dies: ${String(error)}`
}

/** JSON with keys in order. Generations count by when they were first seen; a reading may note itself before or after it tells. */
const observed = (value: unknown, generations: Map<string, number>): string =>
  JSON.stringify(value, (name, part: unknown) => {
    if (name === "generation") {
      const generation = String(part)
      if (!generations.has(generation)) generations.set(generation, generations.size)
      return generations.get(generation)
    }
    if (name === "info" && typeof part === "object") return sorted({ ...part, lastAccessedAt: undefined })
    return sorted(part)
  })

const sorted = (part: unknown): unknown =>
  typeof part !== "object" || part === null || Array.isArray(part)
    ? part
    : Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))

// -----------------------------------------------------------------------------
// scripts
// -----------------------------------------------------------------------------

const keys = [main("a"), own("a", "x"), own("a", "a"), main("b"), own("b", "x", "t"), main("\0a")]

const ending: ReadonlyArray<Step> = [
  ...keys.map((key): Step => ({ do: "read", key, range: { last: Infinity } })),
  { do: "list", options: { limit: Infinity } },
  { do: "list", options: { tenant: "t", limit: 1 } }
]

const exchange: FastCheck.Arbitrary<NewExchange> = FastCheck.oneof(
  FastCheck.record({
    agent: FastCheck.constantFrom("helper", "x", "__proto__"),
    messages: Arbitraries.history.map((history) => (history.length === 0 ? [Message.user("")] : history))
  }),
  Arbitraries.json.map((value) => ({
    agent: "helper",
    messages: [{ ...Message.assistant([Message.toolCall("1", "tool", value)]), metadata: { value } }]
  })),
  FastCheck.constant({ agent: "", messages: [] })
)

const count = FastCheck.constantFrom(...numbers(6), Infinity, -1)

const range: FastCheck.Arbitrary<Range> = FastCheck.oneof(
  FastCheck.record({ last: count, before: count }, { requiredKeys: ["last"] }),
  FastCheck.record({ first: count, after: count }, { requiredKeys: ["first"] })
)

const place = FastCheck.record(
  { session: FastCheck.constantFrom("a", "b", "aa"), agent: FastCheck.constantFrom("x", "a", "z") },
  { requiredKeys: ["session"] }
)

const listOptions: FastCheck.Arbitrary<ListOptions> = FastCheck.record(
  {
    tenant: FastCheck.constantFrom("default", "t", "u"),
    session: FastCheck.constantFrom("a", "b"),
    after: place,
    limit: FastCheck.constantFrom(1, 2, 5, Infinity, 0)
  },
  { requiredKeys: ["limit"] }
)

const key = FastCheck.constantFrom(...keys)
const expected = FastCheck.constantFrom<Array<Expected>>("last", "last", "before", "none")
const only = <A extends Step["do"]>(name: A) => FastCheck.constant(name)

const script: FastCheck.Arbitrary<ReadonlyArray<Step>> = FastCheck.array(
  FastCheck.oneof<Array<FastCheck.MaybeWeightedArbitrary<Step>>>(
    { weight: 3, arbitrary: FastCheck.record({ do: only("read"), key, range }) },
    { weight: 6, arbitrary: FastCheck.record({ do: only("append"), key, exchange }) },
    {
      weight: 2,
      arbitrary: FastCheck.record({
        do: only("replace"),
        key,
        exchanges: FastCheck.array(exchange, { maxLength: 3 }),
        expected
      })
    },
    {
      weight: 2,
      arbitrary: FastCheck.record({
        do: only("summarize"),
        key,
        text: Arbitraries.text,
        through: FastCheck.integer({ min: 0, max: 4 }),
        expected
      })
    },
    FastCheck.record({ do: only("clear"), key }),
    FastCheck.record({ do: only("remove"), key }),
    FastCheck.record({ do: only("list"), options: listOptions })
  ),
  { maxLength: 40, size: "max" }
)
