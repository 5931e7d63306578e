import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** Passes on what is said to a server, at a port of its own, until it is cut off or the scope ends. */
export const proxy = (server: URL) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const listener = createServer((from) => {
        const to = connect(Number(server.port || 5432), server.hostname)
        for (const [one, other] of [
          [from, to],
          [to, from]
        ] as const) {
          sockets.add(one)
          one.pipe(other)
          one.on("error", () => other.destroy())
          one.on("close", () => other.destroy())
        }
      }).listen(0, "127.0.0.1")
      await once(listener, "listening")
      const address = new URL(server)
      address.hostname = "127.0.0.1"
      // A server that listens at a port has such an address.
      address.port = String((listener.address() as AddressInfo).port)
      const cut = Effect.sync(() => {
        listener.close()
        for (const socket of sockets) socket.destroy()
      })
      return { address, cut }
    }),
    ({ cut }) => cut
  )
