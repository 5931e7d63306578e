import { inspect } from "node:util"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Agent, Call, ChatModel, Errors, Tenant } from "@heddle/core"
import { CircuitBreaker, ModelProvider, ModelRegistry, UsageMeter } from "@heddle/models"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"

const secret = "sk-very-secret-0123456789"

/** A provider that notes what it makes and releases. Its models answer with what they were told. */
const noting = (options: Partial<ModelProvider.ModelProvider> = {}) => {
  const made: Array<ModelProvider.ProviderSettings> = []
  const released: Array<string> = []
  const requests: Array<ChatModel.ModelRequest> = []
  const provider: ModelProvider.ModelProvider = {
    name: "noting",
    make: (settings) =>
      Effect.acquireRelease(
        Effect.sync((): ChatModel.Service => {
          made.push(settings)
          return {
            call: (request) => {
              requests.push(request)
              return ChatModel.reply(settings.model)
            }
          }
        }),
        () => Effect.sync(() => released.push(settings.model))
      ),
    ...options
  }
  return { provider, made, released, requests }
}

const entry = (name: string, model: string, more: Partial<ModelRegistry.EntryWithKey> = {}) => ({
  name,
  model,
  provider: "noting",
  ...more
})

const get = (model: string, tenant?: string) =>
  Effect.flatMap(ModelRegistry.ModelRegistry, (registry) =>
    registry.get({ model, ...(tenant !== undefined && { tenant }) })
  )
const textOf = (model: ChatModel.Service) =>
  Effect.map(ChatModel.run(model.call(ChatModel.request({}))), ({ content }) =>
    content.map((part) => (part._tag === "Text" ? part.text : "")).join("")
  )
const said = (model: string, tenant?: string) => Effect.scoped(Effect.flatMap(get(model, tenant), textOf))
const registry = ModelRegistry.ModelRegistry

const withConfig =
  (values: Record<string, string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withConfigProvider(effect, ConfigProvider.fromMap(new Map(Object.entries(values))))

describe("what a name stands for", () => {
  it.effect("is a tenant's own model before that of everybody, and never that of another tenant", () => {
    const { provider } = noting()
    return Effect.gen(function* () {
      expect(yield* said("fast", "acme")).toBe("of acme")
      expect(yield* said("fast", "zeta")).toBe("shared")
      expect(yield* said("fast")).toBe("shared")
      expect(yield* said("fast").pipe(Tenant.within("acme"))).toBe("of acme")
      const error = yield* Effect.flip(said("own", "zeta"))
      expect(error.message).toBe(
        'For tenant "zeta", unknown model "own": there are "fast" (models are entries of the ModelRegistry)'
      )
      expect(yield* said("own", "acme")).toBe("only acme's")
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [provider],
          models: [
            entry("fast", "shared"),
            entry("fast", "of acme", { tenant: "acme" }),
            entry("own", "only acme's", { tenant: "acme" })
          ]
        })
      )
    )
  })

  it("is found whatever tenants and names are made of, as a page of plain code finds it", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.record({ tenant: FastCheck.option(hostile, { nil: undefined }), name: hostile }), {
          maxLength: 8
        }),
        FastCheck.array(FastCheck.record({ tenant: hostile, name: hostile }), { maxLength: 4 }),
        (added, asked) =>
          Effect.gen(function* () {
            const models = yield* registry
            for (const [i, { name, tenant }] of added.entries()) {
              yield* models.set(entry(name, String(i), tenant === undefined ? {} : { tenant }))
            }
            for (const { name, tenant } of asked) {
              const last = (whose: string | undefined) =>
                added.findLastIndex((one) => one.tenant === whose && one.name === name)
              const expected = last(tenant) >= 0 ? last(tenant) : last(undefined)
              const found = yield* Effect.either(said(name, tenant))
              expect(found._tag === "Right" ? found.right : found.left.reason).toBe(
                expected >= 0 ? String(expected) : "UnknownModel"
              )
            }
            const own = (yield* models.list({ tenant: "acme" })).map(({ name }) => name)
            expect(new Set(own).size).toBe(own.length)
          }).pipe(Effect.provide(ModelRegistry.layer({ providers: [noting().provider] })), Effect.runPromise)
      ),
      { numRuns: 200 }
    ))

  const hostile = FastCheck.constantFrom("__proto__", "constructor", "a", "acme", '["a","b"]', "null", "x".repeat(300))

  it.effect("is told to the provider as it was written", () => {
    const { made, provider } = noting()
    return Effect.gen(function* () {
      yield* said("fast")
      expect(made).toEqual([
        { name: "fast", model: "m-1", apiKey: undefined, baseUrl: "http://localhost:1234/v1", options: { a: [1] } }
      ])
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [provider],
          models: [entry("fast", "m-1", { baseUrl: "http://localhost:1234/v1", options: { a: [1] } })]
        })
      )
    )
  })

  it.effect("is kept as it was, whatever becomes of the object it came from and of those of the list", () => {
    const { made, provider } = noting()
    const token = Redacted.make(secret)
    const f = () => 1
    const given = { ...entry("fast", "m-1"), options: { a: [{ b: 1 }], f, token } }
    return Effect.gen(function* () {
      const models = yield* registry
      Object.assign(given, { model: "m-2", provider: "gone" })
      Object.assign(given.options.a[0]!, { b: 2 })
      for (const listed of yield* models.list()) {
        expect(() => Object.assign(listed, { provider: "gone" })).toThrow(TypeError)
        const { options = {} } = listed
        const [inside = {}] = options["a"] as ReadonlyArray<object>
        expect(() => Object.assign(inside, { b: 3 })).toThrow(TypeError)
      }
      expect(yield* said("fast")).toBe("m-1")
      expect(made[0]?.options).toEqual({ a: [{ b: 1 }], f, token })
      expect(made[0]?.options["token"]).toBe(token)
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [provider], models: [given] })))
  })

  it.effect("can be the offline model, whose options are looked at", () =>
    Effect.gen(function* () {
      const result = yield* Agent.run(
        Agent.make({ name: "h", instructions: "The office opens at nine." }),
        "When does the office open?"
      )
      expect(result.text).toContain("nine")
      const error = yield* Effect.flip(said("bad"))
      expect(error.reason).toBe("InvalidOptions")
      expect(error.message).toContain("options.maxToolCalls: expected a whole number from 0")
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          ModelRegistry.layerChatModel("off"),
          ModelRegistry.layer({
            models: [
              { name: "off", provider: "offline", model: "offline" },
              { name: "bad", provider: "offline", model: "offline", options: { maxToolCalls: -1 } }
            ]
          })
        )
      )
    )
  )
})

describe("a model", () => {
  it.effect("is made once for all who ask at the same time, tenants too", () => {
    const { made, provider } = noting()
    const slow = {
      ...provider,
      make: (settings: ModelProvider.ProviderSettings) => Effect.delay(provider.make(settings), 10)
    }
    return Effect.gen(function* () {
      const all = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 100 }), (_, i) => get("fast", `tenant ${i % 7}`), {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust(10)
      expect(new Set(yield* Fiber.join(all)).size).toBe(1)
      expect(made).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(ModelRegistry.layer({ providers: [slow], models: [entry("fast", "m")] })))
  })

  it.effect("goes on being made for others when the first who asked is gone, and does not see who that was", () => {
    const tenants: Array<string> = []
    const { made, provider } = noting()
    const slow: ModelProvider.ModelProvider = {
      ...provider,
      make: (settings) =>
        Effect.flatMap(Tenant.Tenant, (tenant) => {
          tenants.push(tenant)
          return Effect.delay(provider.make(settings), 10)
        })
    }
    return Effect.gen(function* () {
      const first = yield* Effect.fork(said("fast").pipe(Tenant.within("first")))
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(said("fast").pipe(Tenant.within("second")))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust(10)
      expect(yield* Fiber.join(second)).toBe("m")
      expect(made).toHaveLength(1)
      expect(tenants).toEqual(["default"])
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [slow], models: [entry("fast", "m")] })))
  })

  it.effect("is released when nobody has used it for the time to live, and made again when asked for", () => {
    const { made, provider, released } = noting()
    return Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.extend(get("fast"), scope)
      yield* TestClock.adjust("1 hour")
      expect(released).toEqual([])
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("4 minutes")
      yield* said("fast")
      yield* TestClock.adjust("4 minutes")
      expect([made.length, released.length]).toEqual([1, 0])
      yield* TestClock.adjust("1 minute")
      expect([made.length, released.length]).toEqual([1, 1])
      yield* said("fast")
      expect([made.length, released.length]).toEqual([2, 1])
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [provider], models: [entry("fast", "m")] })))
  })

  it.effect("is released with the registry", () => {
    const { provider, released } = noting()
    return said("fast").pipe(
      Effect.provide(ModelRegistry.layer({ providers: [provider], models: [entry("fast", "m")] })),
      Effect.tap(() => expect(released).toEqual(["m"]))
    )
  })

  it.effect("that could not be made is tried again by the next who asks, and by all who ask then only once", () => {
    let fails = true
    let tries = 0
    const { provider } = noting()
    const moody: ModelProvider.ModelProvider = {
      ...provider,
      make: (settings) =>
        Effect.suspend(() => {
          tries++
          return fails
            ? new ModelProvider.ModelUnavailable({
                reason: "MissingPackage",
                model: settings.name,
                message: "npm i it"
              })
            : provider.make(settings)
        })
    }
    return Effect.gen(function* () {
      const errors = yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.flip(said("fast")), {
        concurrency: "unbounded"
      })
      expect([tries, new Set(errors).size]).toEqual([1, 1])
      fails = false
      const models = yield* Effect.forEach(Array.from({ length: 10 }), () => get("fast"), { concurrency: "unbounded" })
      expect([tries, new Set(models).size]).toEqual([2, 1])
    }).pipe(Effect.scoped, Effect.provide(ModelRegistry.layer({ providers: [moody], models: [entry("fast", "m")] })))
  })

  it.effect("stays shared when those whom it failed are done", () => {
    const { made, provider } = noting()
    let fails = true
    const moody: ModelProvider.ModelProvider = {
      ...provider,
      make: (settings) =>
        Effect.suspend(() =>
          fails
            ? new ModelProvider.ModelUnavailable({ reason: "MissingPackage", model: "fast", message: "npm i it" })
            : provider.make(settings)
        )
    }
    return Effect.gen(function* () {
      const failed = yield* Scope.make()
      yield* Effect.flip(Scope.extend(get("fast"), failed))
      fails = false
      const model = yield* get("fast")
      yield* Scope.close(failed, Exit.void)
      yield* TestClock.adjust("10 minutes")
      expect(yield* get("fast")).toBe(model)
      expect(made).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(ModelRegistry.layer({ providers: [moody], models: [entry("fast", "m")] })))
  })

  it.effect(
    "that fails when all who asked are gone, or is still being made when the registry goes, leaves nothing",
    () => {
      const { provider, released } = noting()
      let fails = true
      const slow: ModelProvider.ModelProvider = {
        ...provider,
        make: (settings) =>
          Effect.gen(function* () {
            const model = yield* provider.make(settings)
            yield* Effect.sleep(10)
            if (!fails) return model
            return yield* new ModelProvider.ModelUnavailable({ reason: "InvalidOptions", model: "fast", message: "no" })
          })
      }
      return Effect.gen(function* () {
        const first = yield* Effect.fork(said("fast"))
        yield* TestClock.adjust(5)
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust(5)
        expect(released).toEqual(["m"])
        fails = false
        const second = yield* Effect.fork(said("fast"))
        yield* TestClock.adjust(10)
        expect(yield* Fiber.join(second)).toBe("m")
        yield* (yield* registry).set(entry("fast", "n"))
        expect(released).toEqual(["m", "m"])
        yield* Effect.fork(said("fast"))
        yield* TestClock.adjust(5)
      }).pipe(
        Effect.provide(ModelRegistry.layer({ providers: [slow], models: [entry("fast", "m")] })),
        Effect.tap(() => expect(released).toEqual(["m", "m", "n"]))
      )
    }
  )

  it.effect("whose provider dies takes nobody else's with it", () => {
    const { provider } = noting()
    const dying: ModelProvider.ModelProvider = {
      name: "dying",
      make: () => {
        throw new Error("boom")
      }
    }
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(said("bad"))
      expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
      expect(yield* said("fast")).toBe("m")
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [provider, dying],
          models: [entry("fast", "m"), { name: "bad", provider: "dying", model: "x" }]
        })
      )
    )
  })
})

describe("an entry that changes", () => {
  it.effect("leaves the model to those who hold it, and is made anew for the next", () => {
    const { made, provider, released } = noting()
    return Effect.gen(function* () {
      const models = yield* registry
      const scope = yield* Scope.make()
      const old = yield* Scope.extend(get("fast"), scope)
      yield* models.set(entry("fast", "new"))
      expect(yield* said("fast")).toBe("new")
      expect(yield* textOf(old)).toBe("old")
      expect(released).toEqual([])
      yield* Scope.close(scope, Exit.void)
      expect(released).toEqual(["old"])
      // What is left of the old one does not touch the new one.
      yield* said("fast")
      expect(made.map(({ model }) => model)).toEqual(["old", "new"])
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [provider], models: [entry("fast", "old")] })))
  })

  it.effect("is released at once if nobody holds its model", () => {
    const { provider, released } = noting()
    return Effect.gen(function* () {
      yield* said("fast")
      yield* (yield* registry).set(entry("fast", "new"))
      expect(released).toEqual(["old"])
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [provider], models: [entry("fast", "old")] })))
  })

  it.effect("is gone when it is removed, for the next who asks", () => {
    const { provider, released } = noting()
    return Effect.gen(function* () {
      const models = yield* registry
      const scope = yield* Scope.make()
      const held = yield* Scope.extend(get("fast"), scope)
      expect(yield* models.remove({ name: "fast", tenant: "acme" })).toBe(false)
      expect(yield* models.remove({ name: "fast" })).toBe(true)
      expect(yield* models.remove({ name: "fast" })).toBe(false)
      expect((yield* Effect.flip(get("fast"))).message).toContain('unknown model "fast": there are none')
      expect(yield* textOf(held)).toBe("m")
      yield* Scope.close(scope, Exit.void)
      expect(released).toEqual(["m"])
      expect(yield* models.list()).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(ModelRegistry.layer({ providers: [provider], models: [entry("fast", "m")] })))
  })

  it.effect("while it is being made does not change what is being made", () => {
    const { provider, released } = noting()
    const slow = {
      ...provider,
      make: (settings: ModelProvider.ProviderSettings) => Effect.delay(provider.make(settings), 10)
    }
    return Effect.gen(function* () {
      const first = yield* Effect.fork(said("fast"))
      yield* Effect.yieldNow()
      yield* (yield* registry).set(entry("fast", "new"))
      const second = yield* Effect.fork(said("fast"))
      yield* TestClock.adjust(10)
      expect([yield* Fiber.join(first), yield* Fiber.join(second)]).toEqual(["old", "new"])
      expect(released).toEqual(["old"])
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [slow], models: [entry("fast", "old")] })))
  })
})

describe("an entry that makes no sense", () => {
  const refused = (bad: unknown) =>
    Effect.gen(function* () {
      // Data from outside has no type.
      const error = yield* Effect.flip((yield* registry).set(bad as ModelRegistry.EntryWithKey))
      expect(error._tag).toBe("ModelUnavailable")
      return error
    }).pipe(Effect.provide(ModelRegistry.layer({ providers: [noting().provider] })))

  it.effect("is refused with all its problems, and what was written where a name should be is not printed", () =>
    Effect.gen(function* () {
      const error = yield* refused({
        name: "",
        provider: "noting",
        model: 3,
        tenant: "",
        baseUrl: `https://me:${secret}@example.com`,
        apiKeyFrom: secret,
        options: secret,
        apiKey: secret,
        apikey: secret
      })
      expect(error.reason).toBe("InvalidOptions")
      for (const place of [
        "name: ",
        "model: ",
        "tenant: ",
        "baseUrl: ",
        "apiKeyFrom: ",
        "options: ",
        "apiKey: ",
        "apikey: "
      ]) {
        expect(error.message).toContain(`- ${place}`)
      }
      expect(everyWay(error)).not.toContain(secret)
      expect((yield* refused({ ...entry("a", "m"), baseUrl: "file:///etc/passwd" })).message).toContain("baseUrl")
      expect((yield* refused({ ...entry("a", "m"), baseUrl: "nonsense" })).message).toContain("baseUrl")
    })
  )

  it.effect("is refused where it is none, or has no name, also when the registry is made", () =>
    Effect.gen(function* () {
      const start = "An entry without a name makes no sense:\n- "
      for (const none of [null, undefined, "fast", 7]) {
        expect(yield* refused(none)).toMatchObject({
          reason: "InvalidOptions",
          model: "",
          message: `${start}expected an object`
        })
      }
      for (const name of [undefined, "", {}, 3]) {
        expect((yield* refused({ ...entry("a", "m"), name })).message).toMatch(`${start}name: `)
      }
      const models = [null] as unknown as ReadonlyArray<ModelRegistry.EntryWithKey>
      const error = yield* Effect.flip(Effect.scoped(Layer.build(ModelRegistry.layer({ models }))))
      expect(error.message).toContain(start)
    })
  )

  it.effect("with an unknown provider is told which there are", () =>
    Effect.gen(function* () {
      const error = yield* refused({ ...entry("a", "m"), provider: "ofline" })
      expect(error.reason).toBe("UnknownProvider")
      expect(error.message).toContain('unknown provider "ofline": there are "offline", "noting"; is "offline" meant?')
    })
  )

  it.effect("keeps the registry from being made, as two of one name do", () =>
    Effect.gen(function* () {
      const build = (...models: ReadonlyArray<ModelRegistry.EntryWithKey>) =>
        Effect.flip(Effect.scoped(Layer.build(ModelRegistry.layer({ providers: [noting().provider], models }))))
      expect((yield* build(entry("", "m"))).reason).toBe("InvalidOptions")
      expect((yield* build(entry("a", "m"), entry("a", "n"))).message).toContain("there are two of them")
      expect((yield* build(entry("a", "m", { provider: "none" }))).reason).toBe("UnknownProvider")
    })
  )

  it("of a program is thrown: two providers of one name", () => {
    expect(() => ModelRegistry.layer({ providers: [{ ...noting().provider, name: "offline" }] })).toThrow(
      new Errors.DefinitionError('Two model providers have the name "offline".')
    )
  })
})

describe("a name that nobody knows", () => {
  it.effect("is told the nearest one", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(said("fsat"))
      expect(error.reason).toBe("UnknownModel")
      expect(error.message).toContain('there are "fast", "clever"; is "fast" meant?')
      expect((yield* Effect.flip(said("__proto__"))).reason).toBe("UnknownModel")
      expect((yield* Effect.flip(said(""))).message).toContain('unknown model ""')
      expect((yield* Effect.flip(said("x".repeat(1_000_000)))).message.length).toBeLessThan(400)
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [noting().provider],
          models: [entry("fast", "m"), entry("clever", "m")]
        })
      )
    )
  )
})

/** All ways in which something gets into a log. */
const everyWay = (value: unknown): string =>
  [
    inspect(value, { depth: Infinity, showHidden: true }),
    JSON.stringify(value),
    String(value),
    value instanceof Error ? `${value.message}${value.stack}` : "",
    Cause.pretty(Cause.fail(value)),
    Cause.pretty(Cause.die(value))
  ].join("\n")

describe("the API key", () => {
  const keyed = (key: ModelProvider.ProviderKey) => noting({ apiKey: key })
  const keyOf = (
    noted: ReturnType<typeof noting>,
    more: Partial<ModelRegistry.EntryWithKey>,
    config: Record<string, string>
  ) =>
    said("fast").pipe(
      Effect.map(() => {
        const { apiKey } = noted.made[0]!
        return apiKey === undefined ? undefined : Redacted.value(apiKey)
      }),
      Effect.provide(ModelRegistry.layer({ providers: [noted.provider], models: [entry("fast", "m", more)] })),
      withConfig(config)
    )
  const config = { USUAL_KEY: secret, OTHER_KEY: "other", EMPTY_KEY: "", BLANK_KEY: " \t" }

  it.effect("is the one in the entry, or in the variable that it names, or in the provider's usual one", () =>
    Effect.gen(function* () {
      const usual = { from: "USUAL_KEY" }
      expect(yield* keyOf(keyed(usual), {}, config)).toBe(secret)
      expect(yield* keyOf(keyed(usual), { apiKeyFrom: "OTHER_KEY" }, config)).toBe("other")
      expect(yield* keyOf(keyed(usual), { apiKey: Redacted.make("mine") }, config)).toBe("mine")
      expect(yield* keyOf(keyed(usual), { apiKey: Config.redacted("OTHER_KEY") }, config)).toBe("other")
      expect(yield* keyOf(noting(), {}, config)).toBeUndefined()
      expect(yield* keyOf(noting(), { apiKeyFrom: "OTHER_KEY" }, config)).toBe("other")
      expect(yield* keyOf(keyed({ from: "NO_KEY", optional: true }), {}, config)).toBeUndefined()
    })
  )

  it.effect("that is the provider's usual one is not sent to another address", () =>
    Effect.gen(function* () {
      const baseUrl = "https://elsewhere.example"
      const error = yield* Effect.flip(keyOf(keyed({ from: "USUAL_KEY" }), { baseUrl }, config))
      expect(error).toMatchObject({ reason: "MissingSecret", message: expect.stringContaining('"apiKeyFrom"') })
      expect(yield* keyOf(keyed({ from: "USUAL_KEY", optional: true }), { baseUrl }, config)).toBeUndefined()
      expect(yield* keyOf(keyed({ from: "USUAL_KEY" }), { baseUrl, apiKeyFrom: "USUAL_KEY" }, config)).toBe(secret)
    })
  )

  it.effect("that is missing is told by the name of its variable, and can be set later", () =>
    Effect.gen(function* () {
      const missing = (more: Partial<ModelRegistry.EntryWithKey>, from = "NO_KEY") =>
        Effect.flip(keyOf(keyed({ from }), more, config))
      const error = yield* missing({})
      if (error._tag !== "ModelUnavailable") throw error
      expect([error.reason, error.message]).toEqual([
        "MissingSecret",
        'The model "fast" has no API key: set the environment variable NO_KEY, or name another one in "apiKeyFrom" of its entry.'
      ])
      expect((yield* missing({ apiKeyFrom: "MY_KEY" })).message).toContain("set the environment variable MY_KEY.")
      expect((yield* missing({}, "EMPTY_KEY")).message).toContain("set the environment variable EMPTY_KEY")
      expect((yield* missing({ apiKey: Redacted.make("") })).message).toContain("is empty")
      expect((yield* missing({ apiKey: Config.redacted("EMPTY_KEY") })).message).toContain("an empty text")
      // What is blank opens no door, and errors would lose every blank if it were taken for a secret.
      expect((yield* missing({}, "BLANK_KEY")).message).toContain("set the environment variable BLANK_KEY")
      expect((yield* missing({ apiKeyFrom: "BLANK_KEY" })).message).toContain("set the environment variable BLANK_KEY.")
      expect((yield* missing({ apiKey: Redacted.make(" \n") })).message).toContain("is empty")
      expect((yield* missing({ apiKey: Config.redacted("BLANK_KEY") })).message).toContain("an empty text")
      expect(yield* keyOf(keyed({ from: "BLANK_KEY", optional: true }), {}, config)).toBeUndefined()
      const either = Config.orElse(Config.redacted("A_KEY"), () => Config.redacted("B_KEY"))
      expect((yield* missing({ apiKey: either })).message).toContain("its Config gives none (A_KEY, B_KEY).")
    })
  )

  it.effect("is found in the environment when it is set after a failure", () => {
    const name = "HEDDLE_TEST_LATE_KEY"
    return Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.sync(() => delete process.env[name]))
      expect((yield* Effect.flip(said("fast"))).reason).toBe("MissingSecret")
      process.env[name] = secret
      expect(yield* said("fast")).toBe("m")
    }).pipe(
      Effect.scoped,
      Effect.provide(ModelRegistry.layer({ providers: [keyed({ from: name }).provider], models: [entry("fast", "m")] }))
    )
  })

  it.effect("is in nothing that is printed: the registry, its list, its errors, what the provider is told", () => {
    const noted = keyed({ from: "USUAL_KEY" })
    return Effect.gen(function* () {
      const models = yield* registry
      yield* said("fast")
      yield* said("given")
      yield* said("mapped")
      const failing = yield* Effect.flip(said("failing"))
      expect(failing.reason).toBe("MissingSecret")
      for (const value of [models, yield* models.list(), noted.made, failing, yield* Effect.flip(said("none"))]) {
        expect(everyWay(value)).not.toContain(secret)
      }
      expect(noted.made.map(({ apiKey }) => apiKey && Redacted.value(apiKey))).toEqual([secret, secret, secret])
      expect(yield* models.list()).toEqual(["fast", "given", "mapped", "failing"].map((name) => entry(name, "m")))
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [noted.provider],
          models: [
            entry("fast", "m"),
            entry("given", "m", { apiKey: Redacted.make(secret) }),
            entry("mapped", "m", { apiKey: Config.map(Config.succeed(secret), Redacted.make) }),
            // A config library that prints what it was given.
            entry("failing", "m", { apiKey: Config.map(Config.integer("USUAL_KEY"), (n) => Redacted.make(String(n))) })
          ]
        })
      ),
      withConfig(config)
    )
  })
})

describe("the registry as a chat model", () => {
  const ask = (model?: string) =>
    Effect.flatMap(ChatModel.ChatModel, (service) =>
      ChatModel.run(
        service.call(ChatModel.request({ options: { temperature: 0.5, ...(model !== undefined && { model }) } }))
      )
    ).pipe(Effect.map(({ content }) => (content[0]?._tag === "Text" ? content[0].text : "")))
  const live = (provider: ModelProvider.ModelProvider, ...models: ReadonlyArray<ModelRegistry.EntryWithKey>) =>
    Layer.provideMerge(ModelRegistry.layerChatModel("fast"), ModelRegistry.layer({ providers: [provider], models }))

  it.effect("goes by the model of the request and the current tenant, and does not send the registry's name", () => {
    const { provider, requests } = noting()
    return Effect.gen(function* () {
      expect(yield* ask()).toBe("shared")
      expect(yield* ask("clever")).toBe("clever model")
      expect(yield* ask("fast").pipe(Tenant.within("acme"))).toBe("of acme")
      expect(requests.map(({ options }) => options)).toEqual(Array.from({ length: 3 }, () => ({ temperature: 0.5 })))
      const fixed = ModelRegistry.named(yield* registry, "clever")
      expect(yield* textOf(fixed)).toBe("clever model")
    }).pipe(
      Effect.provide(
        live(
          provider,
          entry("fast", "shared"),
          entry("fast", "of acme", { tenant: "acme" }),
          entry("clever", "clever model")
        )
      )
    )
  })

  it.effect("says with a ModelError what cannot be had", () => {
    const { provider } = noting({ apiKey: { from: "NO_KEY" } })
    return Effect.gen(function* () {
      const unknown = yield* Effect.flip(ask("fsat"))
      expect([unknown._tag, unknown.reason]).toEqual(["ModelError", "BadRequest"])
      expect(unknown.message).toContain('is "fast" meant?')
      expect(unknown.cause).toBeInstanceOf(ModelProvider.ModelUnavailable)
      const missing = yield* Effect.flip(ask())
      expect([missing.reason, missing.message.includes("NO_KEY")]).toEqual(["Authentication", true])
    }).pipe(Effect.provide(live(provider, entry("fast", "m"))), withConfig({}))
  })

  it.effect("holds the model while a call lasts, and lets go of it when the call is interrupted", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const released: Array<string> = []
      const hanging: ModelProvider.ModelProvider = {
        name: "noting",
        make: () =>
          Effect.acquireRelease(
            Effect.succeed<ChatModel.Service>({
              call: () => Call.make(() => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never))
            }),
            () => Effect.sync(() => released.push("m"))
          )
      }
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.fork(ask())
        yield* Deferred.await(begun)
        yield* (yield* registry).remove({ name: "fast" })
        yield* TestClock.adjust("1 hour")
        expect(released).toEqual([])
        yield* Fiber.interrupt(fiber)
        expect(released).toEqual(["m"])
      }).pipe(Effect.provide(live(hanging, entry("fast", "m"))))
    })
  )

  it("needs the registry alone", () => {
    expectTypeOf(ModelRegistry.layerChatModel("a")).toEqualTypeOf<
      Layer.Layer<ChatModel.ChatModel, never, ModelRegistry.ModelRegistry>
    >()
  })
})

describe("what is put around each model", () => {
  it.effect("is made with the model, knows its entry, and remembers for it alone", () => {
    const { provider } = noting({
      make: ({ model }) =>
        Effect.succeed({
          call: () =>
            model === "down" ? Call.fail(broken) : ChatModel.reply("ok", { inputTokens: 1, outputTokens: 2 })
        })
    })
    const broken = new Errors.ModelError({ reason: "Overloaded", message: "what acme has said" })
    const Models = ModelRegistry.layer({
      providers: [provider],
      models: [entry("fast", "up"), entry("fast", "down", { tenant: "acme" })],
      decorate: (model, { name, tenant = "all" }) =>
        Effect.gen(function* () {
          const meter = yield* UsageMeter.UsageMeter
          const breaker = yield* CircuitBreaker.make({ failures: 1 })
          return breaker.decorate(meter.decorateAs(`${name} of ${tenant}`)(model))
        })
    })
    expectTypeOf(Models).toEqualTypeOf<
      Layer.Layer<ModelRegistry.ModelRegistry, ModelProvider.ModelUnavailable, UsageMeter.UsageMeter>
    >()
    const Live = ModelRegistry.layerChatModel("fast").pipe(Layer.provide(Models), Layer.provideMerge(UsageMeter.layer))
    return Effect.gen(function* () {
      const ask = Effect.flatMap(ChatModel.ChatModel, textOf)
      expect(yield* Effect.flip(ask).pipe(Tenant.within("acme"))).toBe(broken)
      const refusal = yield* Effect.flip(ask).pipe(Tenant.within("acme"))
      expect(refusal).toMatchObject({ reason: "Overloaded", retryAfter: 30_000 })
      expect(yield* ask.pipe(Tenant.within("zeta"))).toBe("ok")
      const usage = yield* Effect.flatMap(UsageMeter.UsageMeter, ({ read }) => read)
      expect(usage).toMatchObject([
        { tenant: "acme", model: "fast of acme", calls: 1, failed: 1, outputTokens: 0 },
        { tenant: "zeta", model: "fast of all", calls: 1, failed: 0, outputTokens: 2 }
      ])
    }).pipe(Effect.provide(Live))
  })

  it.effect("may be a plain function", () => {
    const { provider } = noting()
    return Effect.gen(function* () {
      expect(yield* said("fast")).toBe("decorated")
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [provider],
          models: [entry("fast", "m")],
          decorate: () => ({ call: () => ChatModel.reply("decorated") })
        })
      )
    )
  })
})
