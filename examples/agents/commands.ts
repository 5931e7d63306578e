/** What this example does at the terminal: each of its agents is asked something. */

/** One command, without `heddle`. */
export type Command = ReadonlyArray<string>

/** A question to each agent, in one session: what is said first is what the others remember of it. */
export const questions: Readonly<Record<string, string>> = {
  assistant: "Tech stack: the project uses React and Node.",
  architect: "Which tech stack does the project use?",
  summarizer: "What does the project use?",
  reviewer: "What is wrong with code/cart.py?",
  librarian: "When does the museum open on Thursdays?",
  editor: "Dear museum, when does the library open?",
  extractor: "The museum opens at nine.",
  scribe: "Write a note into notes/today.md: the herons are back."
}

/** The commands in their order. The scribe may write a file only where somebody is there to allow it. */
export const commands = (db: string): ReadonlyArray<Command> => [
  ["lint"],
  ["index", "notes", "--db", db],
  ...Object.entries(questions).map(([agent, question]) => ["run", agent, question, "--session", "tour", "--db", db]),
  ["workflow", "run", "workflows/letter.yaml", "When does the museum open?", "--session", "tour", "--db", db],
  ["sessions", "show", "tour", "--db", db]
]
