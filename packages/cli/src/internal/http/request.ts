/** One request over HTTP, of which the addresses that are connected to are known. */
import { lookup as lookUp } from "node:dns"
import { type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { LookupFunction } from "node:net"
import { isBlocked } from "./addresses.ts"

/** What a server answered. */
export interface Answer {
  readonly status: number
  readonly location: string | undefined
  readonly type: string
  readonly encoding: string
  readonly bytes: Uint8Array
  /** Whether there is more than was read. */
  readonly isCut: boolean
}

/** An address that must not be fetched from. */
export class Blocked extends Error {
  constructor(host: string) {
    super(`${host} is at an address that is not fetched from`)
  }
}

/** Looks a name up, and refuses it if one of its addresses is blocked: the one that is checked is the one that is connected to. */
export const lookup: LookupFunction = (host, options, done) =>
  lookUp(host, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, "", 0)
    if (found.some(({ address }) => isBlocked(address))) return done(new Blocked(host), "", 0)
    if (options.all === true) return done(null, found)
    return done(null, found[0]!.address, found[0]!.family)
  })

const headers = {
  "user-agent": "heddle",
  accept: "text/html, text/*, application/json, application/xml, application/pdf;q=0.5, */*;q=0.1",
  "accept-encoding": "identity"
}

/** Asks for what is at a URL, once: a redirection is given as it is. */
export const get = (url: URL, most: number, signal: AbortSignal): Promise<Answer> =>
  new Promise((resolve, reject) => {
    // An address that needs no looking up is not given to `lookup`.
    if (isBlocked(url.hostname)) return reject(new Blocked(url.hostname))
    const send = url.protocol === "https:" ? httpsRequest : httpRequest
    const sent = send(url, { lookup, headers, signal, agent: false }, (response) =>
      read(response, most).then(resolve, reject)
    )
    sent.on("error", reject)
    sent.end()
  })

const read = async (response: IncomingMessage, most: number): Promise<Answer> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  const { headers, statusCode = 0 } = response
  const answer = {
    status: statusCode,
    location: headers.location,
    type: headers["content-type"] ?? "",
    encoding: headers["content-encoding"] ?? ""
  }
  if (statusCode >= 300) {
    response.destroy()
    return { ...answer, bytes: new Uint8Array(), isCut: false }
  }
  for await (const part of response as AsyncIterable<Uint8Array>) {
    parts.push(part)
    size += part.length
    if (size > most) break
  }
  response.destroy()
  return { ...answer, bytes: Buffer.concat(parts).subarray(0, most), isCut: size > most }
}
