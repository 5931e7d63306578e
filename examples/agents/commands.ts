/** What this example does at the terminal: each of its agents is asked something. */

/** One command, without `heddle`. */
export type Command = ReadonlyArray<string>

/** A question to each agent. What they remember is one session's. */
export const questions: Readonly<Record<string, string>> = {
  architect: "Tech stack: the project uses React and Node. Design the cart.",
  reviewer: "What is wrong with code/cart.py?",
  librarian: "When does the museum open on Thursdays?",
  summarizer: "What did we discuss?",
  editor: "Dear museum, when does the library open?",
  extractor: "The museum opens at nine.",
  scribe: "Write to notes/today.md that the herons are back."
}

/** The commands in their order. The scribe wants to write a file, which nobody is there to allow. */
export const commands = (db: string): ReadonlyArray<Command> => [
  ["lint"],
  ["index", "notes", "--db", db],
  ...Object.entries(questions).map(([agent, question]) => ["run", agent, question, "--session", "tour", "--db", db]),
  ["workflow", "run", "workflows/letter.yaml", "When does the museum open?", "--session", "tour", "--db", db],
  ["sessions", "show", "tour", "--db", db]
]
