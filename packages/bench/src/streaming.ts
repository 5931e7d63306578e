/**
 * Case F: 2,000 parts of a model's text, streamed to a reader through 5 handlers
 * that look at each part: three on its way through a `Call.map`, two in a `Call.tap`.
 *
 * The parts come from a list, or from a stream that gives them one by one as a
 * provider does. Heddle folds them into the reply and the history meanwhile, and
 * hands them over with back-pressure through a mailbox; the bare Effect stream
 * and the bare loop do neither, they end in a text. A list is one chunk to an
 * Effect stream, which then maps it as an array: no reader of a model sees that.
 */
import { Agent, type AgentEvent, Call, type ChatModel, Handler, Pipeline } from "@heddle/core"
import { Effect, Runtime, Stream } from "effect"
import * as Heddle from "./heddle.ts"
import { assert, type Competitor, measure, type Subject } from "./measure.ts"
import { question } from "./work.ts"

const size = 2_000
const parts = Array.from({ length: size }, (_, i): ChatModel.ModelPart => ({ _tag: "Text", text: `word ${i} ` }))

/** What the handlers saw. */
let seen = 0
const pass = (part: ChatModel.ModelPart): ChatModel.ModelPart => {
  look(part)
  return part
}
const look = (part: ChatModel.ModelPart) => {
  if (part._tag === "Text") seen++
}

/** What the reader saw. */
interface Read {
  parts: number
  characters: number
}
const read = (): Read => ({ parts: 0, characters: 0 })
const add = (total: Read, text: string) => {
  total.parts++
  total.characters += text.length
}
const characters = parts.reduce((sum, part) => sum + (part._tag === "Text" ? part.text.length : 0), 0)

const passing = () => Handler.wrapModelCall((request, next) => Call.map(next(request), pass))
const looking = () => Handler.wrapModelCall((request, next) => Call.tap(next(request), look))

const agent = Agent.make({
  name: "writer",
  handlers: Pipeline.make(passing(), looking(), passing(), looking(), passing())
})

type Start = () => Promise<Read>

/** Reads a stream by its chunks, as one that writes to a socket does, or one by one, which costs an Effect for each. */
const reader =
  <A>(oneByOne: boolean, see: (total: Read, element: A) => void) =>
  <E, R>(stream: Stream.Stream<A, E, R>): Effect.Effect<Read, E, R> =>
    Effect.suspend(() => {
      const total = read()
      const reading = oneByOne
        ? Stream.runForEach(stream, (element) => Effect.sync(() => see(total, element)))
        : Stream.runForEachChunk(stream, (chunk) =>
            Effect.sync(() => {
              for (const element of chunk) see(total, element)
            })
          )
      return Effect.as(reading, total)
    })

const heddle = (model: ChatModel.ModelCall, oneByOne = false): Start => {
  const run = Heddle.runner({ call: () => model })
  const toEnd = reader<AgentEvent.AgentEvent | Call.Reset>(oneByOne, (total, event) => {
    if (event._tag === "Text") add(total, event.text)
  })
  return () => run(toEnd(Agent.stream(agent, question)))
}

const effect = (model: Stream.Stream<ChatModel.ModelPart>, oneByOne = false): Start => {
  const run = Runtime.runPromise(Runtime.defaultRuntime)
  const toEnd = reader<ChatModel.ModelPart>(oneByOne, (total, part) => {
    if (part._tag === "Text") add(total, part.text)
  })
  return () =>
    run(toEnd(model.pipe(Stream.map(pass), Stream.map(pass), Stream.map(pass), Stream.map(pass), Stream.map(pass))))
}

const javascript =
  (model: () => Iterable<ChatModel.ModelPart> | AsyncIterable<ChatModel.ModelPart>): Start =>
  async () => {
    const total = read()
    for await (let part of model()) {
      part = pass(part)
      look(part)
      part = pass(part)
      look(part)
      part = pass(part)
      if (part._tag === "Text") add(total, part.text)
    }
    return total
  }

const provided = Stream.rechunk(Stream.fromIterable(parts), 1)

async function* generate() {
  for (const part of parts) yield part
}

const competitor = (name: string, subject: Subject, start: Start): Competitor => ({
  case: name,
  subject,
  unit: "ns",
  size,
  run: async (times) => {
    for (let i = 0; i < times; i++) {
      seen = 0
      const total = await start()
      assert(seen === 5 * size, `the handlers of ${subject} see each part in ${name}`)
      assert(total.parts === size && total.characters === characters, `${subject} streams all parts in ${name}`)
    }
  }
})

export const caseF = () => {
  const list = "F: a part from a list, 5 handlers"
  const list1 = "F: the same, read one by one"
  const stream = "F: a part from a stream, 5 handlers"
  return measure([
    competitor(list, "heddle", heddle(Call.fromIterable(parts))),
    competitor(list, "effect", effect(Stream.fromIterable(parts))),
    competitor(
      list,
      "javascript",
      javascript(() => parts)
    ),
    competitor(list1, "heddle", heddle(Call.fromIterable(parts), true)),
    competitor(list1, "effect", effect(Stream.fromIterable(parts), true)),
    competitor(stream, "heddle", heddle(Call.fromStream(provided))),
    competitor(stream, "effect", effect(provided)),
    competitor(stream, "javascript", javascript(generate))
  ])
}
