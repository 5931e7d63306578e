/** The files of a small project that works at once, without a key and without a network. */

/** The files, by their paths in the project. */
export const starter: Readonly<Record<string, string>> = {
  ".heddle/config.yaml": `# What holds for all agents of this project. A key that is left out is read from
# ~/.config/heddle/config.yaml. \`heddle lint\` tells what is wrong with it.

# The model of agents that name none: provider/model, or a name in "models" below.
# Without one, heddle takes a key that it finds in the environment, or a local Ollama,
# and at last a model that works offline and only quotes what it finds.
# model: anthropic/claude-haiku-4-5

# Models by names of one's own. A key is never written here: it is named by the
# variable of the environment in which it is.
# models:
#   - name: local
#     provider: openai-compatible
#     model: qwen3
#     baseUrl: http://127.0.0.1:8080/v1
#     apiKeyFrom: LOCAL_API_KEY

# The agent that answers in a chat what is said to nobody else.
agent: librarian

# What is done unasked is not said here, but by each user: with --allow, or with
# "allow" in their own configuration.

# Where conversations are kept, from this folder on; in the user's own folder unless said.
# database: heddle.db
`,
  ".heddle/.gitignore": "# Conversations, if they are kept here.\n*.db\n*.db-*\n",
  "agents/librarian.md": `---
title: Librarian
description: Answers questions about the documents of this project, and says where it is written.
contextMode: shared
# Finds passages in what \`heddle index docs\` has read.
rag: { mode: stuff, topK: 5 }
tools:
  allow: [read_file]
maxSteps: 8
---
You answer questions about the documents in the folder docs.

Cite the passages that you use. Say so when the documents do not tell.
`,
  "agents/clerk.md": `---
title: Clerk
description: Knows the front desk.
---
You answer at the front desk, kindly and in few words.

The office opens at nine. Visitors ring at the green door.
`,
  "docs/office.md": `# The office

The office opens at nine and closes at five, from Monday to Friday.

The key of the archive is with the librarian. Parcels are taken in until four.
`,
  "workflows/answer.yaml": `# Asks two agents at once. It runs with:
# heddle workflow run workflows/answer.yaml "When does the office open?"
name: answer
node:
  type: parallel
  name: ask
  branches:
    documents: { type: agent, name: documents, agent: librarian }
    desk: { type: agent, name: desk, agent: clerk }
`
}
