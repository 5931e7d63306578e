/**
 * A newsroom as a workflow: an assignment is researched, drafted from three angles by
 * one writer, reviewed until there is nothing to object to, and laid out.
 *
 * What it printed before in the same session it leaves out: the archive reads it in
 * the history, and the agents are told of it in their instructions.
 */
import { Agent } from "@heddle/core"
import { confine } from "@heddle/example-quickstart/handlers.ts"
import type { Library } from "@heddle/example-quickstart/Library.ts"
import { libraryTools } from "@heddle/example-quickstart/tools.ts"
import { HistoryContext, Node, RunRecord, Workflow } from "@heddle/workflow"
import { Data, Effect } from "effect"

/** There is nothing to write about. */
export class NoTopic extends Data.TaggedError("NoTopic") {
  override get message(): string {
    return 'An assignment needs a topic, such as "punched cards as plain text".'
  }
}

type Format = "markdown" | "plain" | "headline"

interface Assignment {
  readonly topic: string
  readonly format: Format
}

/** What is known before anybody writes. */
interface Desk {
  readonly assignment: Assignment
  /** The articles of earlier runs, oldest first. */
  readonly printed: ReadonlyArray<string>
}

interface Sentence {
  readonly text: string
  /** The note that it is from, if one is named. */
  readonly source: string | undefined
}

interface Section {
  readonly title: string
  readonly sentences: ReadonlyArray<Sentence>
}

/** An article on its way through the review. */
interface Piece extends Desk {
  readonly sections: ReadonlyArray<Section>
  /** What the reviewer objects to. */
  readonly remarks: ReadonlyArray<string>
  /** How many sentences were left out because they had been printed before. */
  readonly leftOut: number
}

// -----------------------------------------------------------------------------
// the desk
// -----------------------------------------------------------------------------

const formats: Readonly<Record<string, Format>> = { markdown: "markdown", plain: "plain", headline: "headline" }

/** "Punched cards as plain text" is a topic and a format. */
const assignment = Node.step("assignment", (text: string) =>
  Effect.gen(function* () {
    const [, topic = "", format = "markdown"] =
      /^(.*?)(?:(?:^|\s)as (?:an? )?(markdown|plain|headline)(?: text)?)?$/is.exec(text.trim()) ?? []
    if (!/[\p{L}\p{N}]/u.test(topic)) return yield* new NoTopic()
    return { topic: topic.trim(), format: formats[format.toLowerCase()] ?? "markdown" } satisfies Assignment
  })
)

/** Looks up what was printed before: not only in the last runs, but in all. */
const archive = Node.step("archive", (assignment: Assignment) =>
  Effect.map(HistoryContext.current, ({ records }): Desk => {
    const printed = records.map((record) => RunRecord.toText(record.output))
    return { assignment, printed }
  })
).pipe(Node.withHistory({ runs: "all" }))

/** The agents, over a library of notes. */
const staff = (library: Library) => {
  const tools = libraryTools(library)
  const handlers = confine(library)
  const researcher = Agent.make({
    name: "researcher",
    instructions: "Search the notes, read what looks right, and sum it up. Name the note of each paragraph at its end.",
    tools,
    handlers
  })
  const writer = Agent.make({
    name: "writer",
    instructions:
      "Write a short paragraph from the notes. Name its note at its end. Do not repeat what was printed before.",
    tools,
    handlers
  })
  return { researcher, writer }
}

// -----------------------------------------------------------------------------
// the review
// -----------------------------------------------------------------------------

/** Cuts a text into its sentences, each with the note that is named behind its paragraph. */
const sentences = (text: string): ReadonlyArray<Sentence> =>
  text.split(/\n{2,}/).flatMap((paragraph) => {
    const [, said = paragraph, source] = /^(.*)\s\(([\w/-]+\.md)\)$/s.exec(paragraph.trim()) ?? []
    return said.split(/(?<=[.!?])\s+/).map((sentence) => ({ text: sentence.trim(), source }))
  })

const isPrinted = ({ printed }: Desk, { text }: Sentence) => printed.some((article) => article.includes(text))

/** The sentences of a section that neither earlier runs nor the sections before it have, and that name a note. */
const fresh = (piece: Piece, i: number): ReadonlyArray<Sentence> => {
  const before = new Set(piece.sections.slice(0, i).flatMap(({ sentences }) => sentences.map(({ text }) => text)))
  return (piece.sections[i]?.sentences ?? []).filter(
    (sentence) => sentence.source !== undefined && !before.has(sentence.text) && !isPrinted(piece, sentence)
  )
}

/** Looks at the piece alone, and says what is wrong with it. */
const review = Node.step("review", (piece: Piece): Piece => {
  const remarks = piece.sections.flatMap(({ sentences, title }, i) => {
    const good = fresh(piece, i)
    const bad = sentences.length - good.length
    return [
      ...(bad === 0 ? [] : [`"${title}" has ${bad} without a source or said before`]),
      ...(good.length > 0 ? [] : [`"${title}" is empty`])
    ]
  })
  return { ...piece, remarks }
}).pipe(Node.withHistory({ mode: "off" }))

/** Takes out what the reviewer objected to. */
const revise = Node.step("revise", (piece: Piece): Piece => {
  if (piece.remarks.length === 0) return piece
  const printed = piece.sections.flatMap(({ sentences }) => sentences).filter((sentence) => isPrinted(piece, sentence))
  const leftOut = new Set(printed.map(({ text }) => text)).size
  const sections = piece.sections.map((section, i) => ({ ...section, sentences: fresh(piece, i) }))
  return {
    ...piece,
    sections: sections.filter((section) => section.sentences.length > 0),
    leftOut: piece.leftOut + leftOut
  }
})

const edit = Node.loop("edit", Node.andThen(revise, review), {
  until: ({ remarks }) => remarks.length === 0,
  max: 3,
  onMax: "stop"
})

// -----------------------------------------------------------------------------
// the page
// -----------------------------------------------------------------------------

const heading = (topic: string) => topic.charAt(0).toUpperCase() + topic.slice(1)

const paragraph = ({ sentences }: Section) => {
  const sources = Array.from(new Set(sentences.map(({ source }) => source)))
  return `${sentences.map(({ text }) => text).join(" ")} (${sources.join(", ")})`
}

const footnote = ({ leftOut, printed }: Piece) =>
  printed.length === 0
    ? "The first article of this session."
    : `Printed before in this session: ${printed.length === 1 ? "1 article" : `${printed.length} articles`}; ${leftOut === 1 ? "1 sentence" : `${leftOut} sentences`} of it left out here.`

const nothingNew = "The notes have nothing that was not printed already."

const layout = Node.router("layout", {
  choose: (piece: Piece) => piece.assignment.format,
  routes: {
    markdown: Node.step("as markdown", (piece: Piece) =>
      [
        `# ${heading(piece.assignment.topic)}`,
        ...piece.sections.flatMap((section) => [`## ${section.title}`, paragraph(section)]),
        ...(piece.sections.length === 0 ? [nothingNew] : []),
        `_${footnote(piece)}_`
      ].join("\n\n")
    ),
    plain: Node.step("as plain text", (piece: Piece) =>
      [
        heading(piece.assignment.topic).toUpperCase(),
        ...piece.sections.map(paragraph),
        ...(piece.sections.length === 0 ? [nothingNew] : []),
        footnote(piece)
      ].join("\n\n")
    ),
    headline: Node.step("as a headline", (piece: Piece) => {
      const first = piece.sections[0]?.sentences[0]?.text ?? nothingNew
      return `${heading(piece.assignment.topic)}: ${first}`
    })
  }
})

// -----------------------------------------------------------------------------
// the workflow
// -----------------------------------------------------------------------------

/** The newsroom over a library of notes: takes an assignment as text, gives an article as text. */
export const newsroom = (library: Library) => {
  const { researcher, writer } = staff(library)
  const angle = (name: string, question: string) =>
    Node.agent(name, writer, { prompt: ({ desk }: Prepared) => `${desk.assignment.topic}: ${question}` })

  const prepare = Node.parallel("prepare", {
    desk: archive,
    findings: Node.agent("research", researcher, { prompt: ({ topic }: Assignment) => topic })
  })
  type Prepared = Node.Output<typeof prepare>

  const draft = Node.parallel("draft", {
    prepared: Node.step("lead", (prepared: Prepared) => prepared),
    origin: angle("origin", "how it began"),
    working: angle("working", "how it works"),
    effect: angle("effect", "what came of it")
  })

  const compose = Node.step("compose", ({ effect, origin, prepared, working }: Node.Output<typeof draft>): Piece => ({
    ...prepared.desk,
    sections: [
      { title: "In short", sentences: sentences(prepared.findings) },
      { title: "How it began", sentences: sentences(origin) },
      { title: "How it works", sentences: sentences(working) },
      { title: "What came of it", sentences: sentences(effect) }
    ],
    remarks: [],
    leftOut: 0
  }))

  return Workflow.make({
    name: "newsroom",
    history: { mode: "on", runs: 2 },
    node: Node.sequence(
      assignment,
      prepare,
      Node.condition("story?", {
        if: ({ findings }) => sentences(findings).some(({ source }) => source !== undefined),
        onTrue: Node.sequence(draft, compose, edit, layout),
        onFalse: Node.step("spike", ({ desk }: Prepared) => `The notes have nothing on "${desk.assignment.topic}".`)
      })
    )
  })
}
