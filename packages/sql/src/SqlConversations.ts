/** Conversations in a SQL database. */
export {}
