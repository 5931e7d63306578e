/**
 * What can be done with the files of agents, for commands and for chats: values and
 * texts, which somebody else writes.
 */
export { type Created, create, names, type NewAgent } from "./creating.ts"
export { lint, lintAgent, type Linted, summary } from "./lint.ts"
export { infoText, list, type Listed, listText } from "./listing.ts"
export { remove, type Removed } from "./removing.ts"
