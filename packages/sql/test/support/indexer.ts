/**
 * A program that puts a document into a collection of a file again and again, each
 * time with three chunks that say its version, and says on its standard output when
 * one is kept.
 */
import { DocumentIndex } from "@heddle/rag"
import { SqlRetriever } from "@heddle/sql"
import { layer } from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"

const [filename = "", source = "", count = "0"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const index = yield* DocumentIndex.DocumentIndex
  for (let n = 0; n < Number(count); n++) {
    const chunks = ["a", "b", "c"].map((id) => ({
      id: `${source}${id}`,
      text: `zebra ${n} ${"grass ".repeat(300)}`,
      context: "",
      metadata: { n }
    }))
    yield* index.put(DocumentIndex.collection("notes"), [{ source, hash: `${n}`, chunks }])
    writeSync(1, `${n}\n`)
  }
})

await Effect.runPromise(
  Effect.provide(program, Layer.provide(SqlRetriever.layerLexical, layer({ filename, busyTimeout: "60 seconds" })))
)
