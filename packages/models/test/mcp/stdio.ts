/**
 * A server as a program. Its log goes to its error output.
 */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { makeServer, type Mode } from "./server.ts"

const [mode = "plain"] = process.argv.slice(2)
const log = (line: string) => void process.stderr.write(`${line}\n`)
log(`pid ${process.pid}`)

if (mode === "mute") {
  process.stdin.resume()
} else {
  if (mode === "stubborn") {
    process.on("SIGTERM", () => log("no"))
    setInterval(() => {}, 1000)
  }
  // What does not belong there is not taken for a message.
  if (mode === "noisy") console.log("Welcome!")
  await makeServer(mode === "stubborn" || mode === "noisy" ? "plain" : (mode as Mode), log).connect(
    new StdioServerTransport()
  )
}
