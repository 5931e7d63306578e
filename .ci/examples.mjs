// Runs every example as a user would. One that serves is stopped once it listens.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync } from "node:fs"
import { createServer } from "node:net"

const examples = readdirSync("examples").filter((name) => existsSync(`examples/${name}/main.ts`))

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address())
  server.close()
  await once(server, "close")
  return String(port)
}

/** @param {string} name @param {string} port */
const run = (name, port) =>
  new Promise((resolve) => {
    const started = performance.now()
    const child = spawn(process.execPath, ["--import", "tsx", `examples/${name}/main.ts`], {
      timeout: 60_000,
      env: { ...process.env, PORT: port },
      stdio: ["ignore", "pipe", "inherit"]
    })
    let output = ""
    child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
      const before = output
      output += chunk.toString()
      if (output.includes("Listening on") && !before.includes("Listening on")) child.kill("SIGINT")
    })
    child.on("close", (status) => {
      const ok = output.trim() !== "" && (status === 0 || (status === 130 && output.includes("Listening on")))
      console.log(`${ok ? "ok    " : "FAILED"} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
      if (!ok) console.log(output)
      resolve(ok)
    })
  })

for (const name of examples) if (!(await run(name, await freePort()))) process.exitCode = 1
