/** Brings the index up to date, and shows how far it is. */
import { clean, paint, short, type Terminal } from "@heddle/example-quickstart/terminal.ts"
import { DocumentIndex, Ingestion } from "@heddle/rag"
import { folder } from "@heddle/rag/files"
import { Effect, Stream } from "effect"

/** A bar that shows how much of a whole is done. */
export const bar = (fraction: number, width: number): string =>
  "█".repeat(Math.round(fraction * width)).padEnd(width, "░")

/** What became of the documents, in one line. */
export const summary = ({ chunks, indexed, removed, skipped, unchanged }: Ingestion.Summary): string =>
  [
    `${indexed} indexed (${chunks} passages)`,
    `${unchanged} unchanged`,
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : [])
  ].join(", ")

/** Indexes a folder. The bar is drawn in place where `live`, a terminal that can go back in its line, is given. */
export const indexing = (path: string, terminal: Terminal, live: Terminal | undefined) =>
  Ingestion.run({ documents: folder(path), collection: DocumentIndex.collection("docs") }).pipe(
    Stream.runForEach((event) =>
      Effect.sync(() => {
        if (live !== undefined && event.fraction !== undefined) {
          const name = "source" in event ? short(event.source, live.columns - 40) : ""
          live.write(`\r\u001b[K  ${bar(event.fraction, 30)} ${Math.floor(event.fraction * 100)} % ${name}`)
          if (event._tag === "Finished") live.write("\r\u001b[K")
        }
        if (event._tag === "Skipped") {
          terminal.write(
            `  ${paint(terminal, "yellow", "skipped")} ${clean(event.source)}: ${short(event.message, 200)}\n`
          )
        }
        if (event._tag === "Finished") terminal.write(`  ${bar(1, 30)} ${summary(event)}\n`)
      })
    )
  )
