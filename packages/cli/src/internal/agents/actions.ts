/**
 * What can be done with the files of agents, for commands and for chats: values and
 * texts, which somebody else writes.
 */
export { create, names } from "./creating.ts"
export { lint, lintAgent } from "./lint.ts"
export { infoText, list, listText } from "./listing.ts"
export { remove } from "./removing.ts"
