/** Where a call's options stand in the metadata of a run, and what was found in that of the answer. */
export const metadataKey = "@heddle/rag"
