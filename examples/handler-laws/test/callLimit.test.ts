import { Laws } from "@heddle/testing/vitest"
import { describe } from "vitest"
import { callLimit } from "../callLimit.ts"

// It counts the calls that are made, those too whose result is dropped: law 7 is not for it.
describe("callLimit keeps the laws", () => Laws.handler(callLimit(2), { except: [7] }))
