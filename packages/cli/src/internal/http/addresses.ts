/**
 * Addresses that nobody is asked to fetch from: those of machines' own networks, where
 * clouds give away the credentials of a machine to whoever asks. Addresses of this
 * machine and of networks at home can be fetched: a server that one develops is there.
 */
import { BlockList, isIP } from "node:net"

const blocked = new BlockList()
for (const [network, prefix, family] of [
  ["169.254.0.0", 16, "ipv4"],
  // The same in addresses of the newer kind that stand for the older: translated, and tunneled.
  ["64:ff9b::a9fe:0", 112, "ipv6"],
  ["2002:a9fe::", 32, "ipv6"],
  ["fe80::", 10, "ipv6"]
] as const)
  blocked.addSubnet(network, prefix, family)
for (const [address, family] of [
  ["100.100.100.200", "ipv4"],
  ["192.0.0.192", "ipv4"],
  ["fd00:ec2::254", "ipv6"],
  ["fd20:ce::254", "ipv6"]
] as const)
  blocked.addAddress(address, family)

/** Whether an address must not be fetched from. */
export const isBlocked = (address: string): boolean => {
  const plain = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "")
  const family = isIP(plain)
  return family !== 0 && blocked.check(plain, family === 4 ? "ipv4" : "ipv6")
}
