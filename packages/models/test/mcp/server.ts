/**
 * A server of tools that change, stall, die and say too much, made with the SDK.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { Protocol } from "@modelcontextprotocol/sdk/shared/protocol.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"

export type Mode =
  "plain" | "hostile-list" | "many" | "endless" | "huge" | "no-tools" | "not-a-list" | "untyped" | "silent"

const schema = { type: "object" as const, properties: {} }
const tool = (name: string, more: object = {}) => ({ name, description: `Does ${name}.`, inputSchema: schema, ...more })

/** A server. It tells `log` what happens to its calls. */
export const makeServer = (mode: Mode, log: (line: string) => void): Server => {
  const server = new Server(
    { name: "odd", version: "1.2.3" },
    { capabilities: mode === "no-tools" ? {} : { tools: { listChanged: true } }, instructions: "Be careful." }
  )
  if (mode === "no-tools") return server
  let names = [
    "echo",
    "stall",
    "die",
    "grow",
    "shrink",
    "env",
    "big",
    "count",
    "fail",
    "mixed",
    "structured",
    "nonsense",
    "protocol-error"
  ]
  const plain = () => names.map((name) => tool(name))
  const lists: Record<Exclude<Mode, "no-tools">, (cursor: string | undefined) => object> = {
    // Two to a page.
    plain: (cursor = "0") => {
      log("list")
      const from = Number(cursor)
      return {
        tools: plain().slice(from, from + 2),
        ...(from + 2 < names.length && { nextCursor: String(from + 2) })
      }
    },
    "hostile-list": () => ({
      tools: [
        tool("fine", { annotations: { readOnlyHint: true } }),
        tool("__proto__"),
        tool("constructor"),
        tool("with spaces/and more"),
        tool("wordy", { description: "w".repeat(100_000) }),
        tool("untyped", { inputSchema: { properties: {} } }),
        tool("no-schema", { inputSchema: null }),
        tool("fat", { inputSchema: { ...schema, description: "x".repeat(200_000) } }),
        tool("deep", { inputSchema: { ...schema, properties: nested(20_000) } }),
        tool("n".repeat(300)),
        tool(""),
        tool("lengthy", { execution: { taskSupport: "required" } }),
        { name: 7, inputSchema: schema },
        "not even an object",
        null,
        tool("fine", { description: "The same name once more." }),
        tool("harmless", { annotations: { destructiveHint: false, idempotentHint: true, title: "For people" } })
      ]
    }),
    many: (cursor = "0") => ({
      tools: Array.from({ length: 100 }, (_, i) => tool(`tool-${Number(cursor) + i}`)),
      ...(Number(cursor) < 9900 && { nextCursor: String(Number(cursor) + 100) })
    }),
    endless: (cursor = "0") => ({ tools: [], nextCursor: String(Number(cursor) + 1) }),
    huge: () => ({ tools: [tool("wordy", { description: "w".repeat(3_000_000) })] }),
    untyped: () => ({ tools: [tool(process.env["SECRET"] ?? "untyped", { inputSchema: { properties: {} } })] }),
    silent: () => {
      log("list")
      return new Promise<never>(() => {})
    },
    "not-a-list": () => ({ tools: "all of them" })
  }
  // A server of another make may send anything.
  const unchecked = (result: object) => result as { tools: []; content: [] }
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => unchecked(lists[mode](params?.cursor)))
  // The one of the SDK's servers refuses results that are none.
  Protocol.prototype.setRequestHandler.call(server, CallToolRequestSchema, async ({ params }, extra) => {
    const args = params.arguments ?? {}
    const text = (text: string) => ({ content: [{ type: "text" as const, text }] })
    log(`call ${params.name}`)
    switch (params.name) {
      case "echo":
        return text(JSON.stringify(args))
      case "stall":
        await new Promise<void>((resolve) => {
          if (extra.signal.aborted) resolve()
          extra.signal.addEventListener("abort", () => resolve())
        })
        log("cancelled")
        return text("cancelled")
      case "die":
        setImmediate(() => process.exit(1))
        return new Promise<never>(() => {})
      case "grow":
        names = [...names, "grown"]
        await server.sendToolListChanged()
        return text("grown")
      case "shrink":
        names = names.filter((name) => name !== "grown" && name !== "shrink")
        await server.sendToolListChanged()
        return text("shrunk")
      case "env":
        return text(Object.keys(process.env).toSorted().join(" ") + ` SECRET=${process.env["SECRET"]}`)
      case "big":
        return text("b".repeat(Number(args["size"])))
      case "count":
        for (let progress = 1; progress <= 3; progress++) {
          const progressToken = extra._meta?.progressToken
          log(progressToken === undefined ? "nobody wants to know" : "progress")
          if (progressToken !== undefined) {
            await extra.sendNotification({
              method: "notifications/progress",
              params: { progressToken, progress, total: 3, message: `${progress} of 3` }
            })
          }
        }
        return text("counted")
      case "fail":
        return { ...text("it is broken"), isError: true }
      case "mixed":
        return {
          content: [
            { type: "text", text: "see" },
            { type: "image", data: "aGVkZGxl", mimeType: "image/png" },
            { type: "audio", data: "aGVkZA==", mimeType: "audio/wav" },
            { type: "resource", resource: { uri: "file:///a.txt", text: "a", mimeType: "text/plain" } },
            { type: "resource", resource: { uri: "file:///b.bin", blob: "aGU=" } },
            { type: "resource_link", uri: "file:///c", name: "c", mimeType: "text/plain" }
          ]
        }
      case "structured":
        return { content: [{ type: "text", text: '{"celsius":18}' }], structuredContent: { celsius: 18 } }
      case "deep":
        return unchecked({ content: [], structuredContent: nested(20_000), isError: args["isError"] === true })
      case "telling":
        return { ...text(`the key is ${process.env["SECRET"]}`), isError: true }
      case "telling-json":
        return { content: [], structuredContent: { keys: [process.env["SECRET"]] }, isError: true }
      case "telling-keys":
        return { content: [], structuredContent: { [`of ${process.env["SECRET"]}`]: [{}, 1] }, isError: true }
      case "nonsense":
        return unchecked({ content: [{ type: "hologram" }] })
      default:
        throw new Error(`no such thing, and the key is ${process.env["SECRET"]}`)
    }
  })
  return server
}

const nested = (depth: number): object => {
  let out: object = {}
  for (let i = 0; i < depth; i++) out = { a: out }
  return out
}
