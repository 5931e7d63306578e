/** The names of tools that agent files can allow and deny. */

/** Those that come with the command. */
export const builtInTools = ["read_file", "list_files", "search_files", "write_file", "fetch_url", "ask_user"] as const
