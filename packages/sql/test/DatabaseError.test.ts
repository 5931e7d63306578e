import { SqlError } from "@effect/sql"
import { DatabaseError } from "@heddle/sql"
import { describe, expect, it } from "vitest"

const { fromCause } = DatabaseError

describe("fromCause", () => {
  it.each([
    ["SQLITE_CORRUPT_INDEX", "Damaged"],
    ["SQLITE_NOTADB", "NotADatabase"],
    ["SQLITE_BUSY_SNAPSHOT", "Locked"],
    ["SQLITE_READONLY_DIRECTORY", "ReadOnly"],
    ["SQLITE_FULL", "Full"],
    ["SQLITE_IOERR_READ", "Unavailable"],
    ["SQLITE_ERROR", "Unknown"],
    ["XX001", "Damaged"],
    ["XX000", "Unknown"],
    ["40P01", "Locked"],
    ["55P03", "Locked"],
    ["25006", "ReadOnly"],
    ["42501", "ReadOnly"],
    ["42P01", "Unknown"],
    ["53100", "Full"],
    ["53300", "Unavailable"],
    ["28P01", "Unavailable"],
    ["3D000", "Unavailable"],
    ["57P01", "Unavailable"],
    ["ECONNREFUSED", "Unavailable"],
    ["ERR_INVALID_ARG_TYPE", "Unknown"],
    ["42P01", "Unknown"],
    ["ENOSPC", "Full"],
    ["EROFS", "ReadOnly"]
  ])("%s has the reason %s", (code, reason) => {
    const error = fromCause("The database", new SqlError.SqlError({ cause: { code } }))
    expect(error.reason).toBe(reason)
    expect(error.message).toMatch(/^The database .*\. .*\(/)
  })
  it.each([undefined, null, "text", {}, { code: 5 }, new Error("no code")])("%o is unknown", (cause) => {
    expect(fromCause("It", cause)).toMatchObject({ reason: "Unknown", cause })
  })
  it.each(["Connection terminated unexpectedly", "timeout exceeded when trying to connect"])(
    "%s is a server that went away",
    (message) => expect(fromCause("It", new Error(message)).reason).toBe("Unavailable")
  )
  it("a code stands over what a message may look like", () => {
    const cause = { code: "42P01", message: 'relation "connections" does not exist' }
    expect(fromCause("It", cause).reason).toBe("Unknown")
  })
  it("an error that is one already stays as it is", () => {
    const error = fromCause("The file", { code: "SQLITE_FULL" })
    expect(fromCause("Another", new SqlError.SqlError({ cause: error }))).toBe(error)
  })
  it("does not repeat all of a long message", () => {
    expect(fromCause("It", new Error("x".repeat(10_000))).message.length).toBeLessThan(500)
  })
})
