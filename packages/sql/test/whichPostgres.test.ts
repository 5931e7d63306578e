import { afterEach, describe, expect, it, vi } from "vitest"

/** The support of the tests, as it is with these variables. */
const support = (named: string, required = "") => {
  vi.stubEnv("HEDDLE_TEST_POSTGRES_URL", named)
  vi.stubEnv("HEDDLE_REQUIRE_POSTGRES", required)
  vi.resetModules()
  return import("./support/postgres.ts")
}

afterEach(() => void vi.unstubAllEnvs())

/** Nobody listens at this port. */
const nobody = "postgres://postgres@127.0.0.1:1/test"

describe("the Postgres of the tests", () => {
  it("is on this machine where the variable is empty", async () => {
    expect((await support("")).url).toBe("postgres://postgres@127.0.0.1:5432/test")
    expect((await support(nobody)).url).toBe(nobody)
  })
  it("has to answer where the variable names it", async () => {
    const { hasServer } = await support(nobody)
    await expect(hasServer()).rejects.toThrow()
  })
})
