/**
 * The library as tools.
 */
import { Tool, Tools } from "@heddle/core"
import { Schema } from "effect"
import * as Library from "./Library.ts"

const reading = { readOnly: true, idempotent: true }

/** Tools that list, search and read the documents of a library. */
export const libraryTools = (library: Library.Library) =>
  Tools.make(
    Tool.make({
      name: "list_documents",
      description: "Lists the paths of all documents.",
      success: Schema.Array(Schema.String),
      failure: Library.DocumentError,
      annotations: reading,
      execute: () => Library.list(library)
    }),
    Tool.make({
      name: "search_documents",
      description: "Searches the documents and gives the lines that have most of the words.",
      parameters: Schema.Struct({ query: Schema.String.annotations({ description: "The words to look for." }) }),
      success: Schema.Array(Schema.Struct({ path: Schema.String, line: Schema.Number, text: Schema.String })),
      failure: Library.DocumentError,
      annotations: reading,
      execute: ({ query }) => Library.search(library, query)
    }),
    Tool.make({
      name: "read_document",
      description: "Reads a document.",
      parameters: Schema.Struct({ path: Schema.String.annotations({ description: "The path of the document." }) }),
      success: Schema.String,
      failure: Library.DocumentError,
      annotations: reading,
      execute: ({ path }) => Library.read(library, path)
    })
  )
