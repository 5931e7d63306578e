import * as NodeContext from "@effect/platform-node/NodeContext"
import { Tool } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Asking, NobodyToAsk } from "../src/internal/Asking.ts"
import { Project } from "../src/internal/Project.ts"
import { isBlocked } from "../src/internal/http/addresses.ts"
import { Blocked, lookup } from "../src/internal/http/request.ts"
import { builtIn } from "../src/internal/tools/builtIn.ts"
import { makeWorld } from "./support.ts"

/** Calls a tool in a project, and gives what the model is told. */
const calling = (root: string, answers: Array<string> = [], project: Partial<Project["Type"]> = {}) => {
  const asked: Array<string> = []
  const layer = Layer.mergeAll(
    NodeContext.layer,
    Layer.succeed(Project, {
      root,
      agentFolders: [],
      config: {},
      saidBy: {},
      shown: (path) => path,
      configFiles: [],
      dataFolder: root,
      database: path.join(root, "x.db"),
      ...project
    }),
    Layer.succeed(Asking, {
      ask: (question) =>
        Effect.suspend(() => {
          asked.push(question)
          const answer = answers.shift()
          return answer === undefined ? new NobodyToAsk({ message: "nobody" }) : Effect.succeed(answer)
        })
    })
  )
  const call = (name: string, args: object): Promise<string> => {
    const tool = builtIn.find((tool) => tool.name === name)!
    const run = Tool.run(Tool.execute({ id: "1", name, arguments: args, tool, offered: [] }))
    return Effect.runPromise(
      // The built-in tools need what the layer has, and fail the run with nothing.
      Effect.provide(run as Effect.Effect<Effect.Effect.Success<typeof run>, never, Project | Asking>, layer)
    ).then((outcome) =>
      outcome._tag === "Succeeded"
        ? String(outcome.result)
        : outcome._tag === "Failed"
          ? `! ${outcome.reason}`
          : outcome._tag
    )
  }
  return { asked, call }
}

it("only tools that change nothing are said to", () => {
  expect(builtIn.filter((tool) => !tool.annotations.readOnly).map((tool) => tool.name)).toEqual(["write_file"])
  expect(builtIn.filter((tool) => tool.annotations.destructive).map((tool) => tool.name)).toEqual(["write_file"])
})

describe("read_file", () => {
  it("gives a file, or some lines of it", async () => {
    const { project, write } = makeWorld({ "a.txt": "one\ntwo\nthree\n", "empty.txt": "" })
    write("utf16.txt", Uint8Array.of(0xff, 0xfe, 0x48, 0, 0x69, 0))
    const { call } = calling(project)
    expect(await call("read_file", { path: "a.txt" })).toBe("one\ntwo\nthree")
    expect(await call("read_file", { path: "a.txt", from: 2, lines: 1 })).toBe("two\n\n(Lines 2 to 2 of 3.)")
    expect(await call("read_file", { path: "a.txt", from: 9 })).toBe("(The file has 3 lines.)")
    expect(await call("read_file", { path: "empty.txt" })).toBe("(The file has no text.)")
    expect(await call("read_file", { path: "utf16.txt" })).toBe("Hi")
    expect(await call("read_file", { path: path.join(project, "a.txt") })).toBe("one\ntwo\nthree")
  })

  it("gives so much of a long file as a model can read", async () => {
    const { project } = makeWorld({
      "long.txt": "x".repeat(99).concat("\n").repeat(5000),
      "wide.txt": "x".repeat(200_000)
    })
    const { call } = calling(project)
    expect(await call("read_file", { path: "long.txt" })).toMatch(/\(Lines 1 to 1000 of 5000\.\)$/)
    expect((await call("read_file", { path: "wide.txt" })).length).toBeLessThan(100_100)
  })

  it("refuses what is outside of the project, by whatever way", async () => {
    const { project, write } = makeWorld({ "a/b.txt": "inside" })
    const outside = write("~/secret.txt", "secret")
    symlinkSync(outside, path.join(project, "link.txt"))
    symlinkSync(path.dirname(outside), path.join(project, "folder"))
    symlinkSync("folder", path.join(project, "twice"))
    symlinkSync("a", path.join(project, "fine"))
    const { call } = calling(project)
    for (const said of [
      outside,
      "../home/secret.txt",
      "a/../../home/secret.txt",
      "link.txt",
      "folder/secret.txt",
      "twice/secret.txt",
      "/etc/passwd",
      "../home/nothing.txt",
      "/proc/self/environ",
      ".."
    ]) {
      expect(await call("read_file", { path: said })).toMatch(/^! ".*" is outside of the project/)
    }
    expect(await call("read_file", { path: "fine/b.txt" })).toBe("inside")
  })

  it("a folder beside the project whose name begins alike is outside", async () => {
    const { project } = makeWorld({ "a.txt": "inside" })
    mkdirSync(`${project}-other`)
    expect(await calling(project).call("list_files", { path: `${project}-other` })).toMatch(/outside/)
  })

  it("refuses what is no text file, with the reason", async () => {
    const { project, write } = makeWorld({ "a/b.txt": "inside" })
    write("picture.png", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0))
    write("latin1.txt", Uint8Array.of(0x66, 0xfc, 0x72))
    write("large.txt", new Uint8Array(10_000_001).fill(0x78))
    execFileSync("sh", ["-c", 'mkfifo "$0"', path.join(project, "pipe")])
    symlinkSync("loop", path.join(project, "loop"))
    const { call } = calling(project)
    for (const [said, reason] of [
      ["picture.png", "It is not a text."],
      ["latin1.txt", "It is not in UTF-8."],
      ["large.txt", "too large"],
      ["pipe", "is no file"],
      ["a", "is a folder"],
      ["nothing.txt", "There is no file or folder"],
      ["loop", "cannot be accessed"],
      ["", "is no path"],
      ["a\0b", "is no path"]
    ] as const) {
      const told = await call("read_file", { path: said })
      expect(told.startsWith("! ")).toBe(true)
      expect(told).toContain(reason)
    }
  })

  it("nothing from outside is read or written while folders and links take each other's place", async () => {
    const { home, project, write } = makeWorld({ "inside/a.txt": "inside", "folder/a.txt": "inside" })
    write("~/a.txt", "secret")
    const { call } = calling(project)
    const at = (name: string) => path.join(project, name)
    symlinkSync(home, at("evil"))
    symlinkSync("inside", at("link"))
    const swap = () => {
      renameSync(at("folder"), at("away"))
      renameSync(at("evil"), at("folder"))
    }
    const swapBack = () => {
      renameSync(at("folder"), at("evil"))
      renameSync(at("away"), at("folder"))
    }
    let turn = 0
    const flip = () => {
      symlinkSync(turn % 2 === 0 ? home : "inside", at("next"))
      renameSync(at("next"), at("link"))
      if (turn++ % 2 === 0) swap()
      else swapBack()
    }
    const flipping = setInterval(flip, 0)
    for (let i = 0; i < 100; i++) {
      expect(await call("read_file", { path: "folder/a.txt" })).not.toContain("secret")
      expect(await call("read_file", { path: "link/a.txt" })).not.toContain("secret")
      await call("write_file", { path: "link/b.txt", content: "written" })
    }
    clearInterval(flipping)
    expect(turn).toBeGreaterThan(10)
    expect(readdirSync(home)).toEqual(["a.txt"])
  })
})

describe("list_files and search_files", () => {
  it("list files, but for hidden ones, links and node_modules", async () => {
    const { project } = makeWorld({
      "a.md": "",
      "src/b.ts": "",
      "src/deep/c.tsx": "",
      ".hidden/d.md": "",
      "node_modules/e.md": ""
    })
    symlinkSync("src", path.join(project, "link"))
    symlinkSync("..", path.join(project, "src", "up"))
    const { call } = calling(project)
    expect(await call("list_files", {})).toBe("a.md\nsrc/b.ts\nsrc/deep/c.tsx")
    expect(await call("list_files", { path: "src" })).toBe("src/b.ts\nsrc/deep/c.tsx")
    expect(await call("list_files", { glob: "*.ts" })).toBe("src/b.ts")
    expect(await call("list_files", { glob: "**/*.{ts,md}" })).toBe("a.md\nsrc/b.ts")
    expect(await call("list_files", { glob: "src/**/*.tsx" })).toBe("src/deep/c.tsx")
    expect(await call("list_files", { glob: "*.rs" })).toBe("(There are no such files.)")
    expect(await call("list_files", { path: "nowhere" })).toBe('! There is no file or folder "nowhere".')
    expect(await call("list_files", { path: ".." })).toContain("outside of the project")
  })

  it("find a text in files, with path and line", async () => {
    const { project, write } = makeWorld({ "a.md": "one\nTWO two\n", "src/b.ts": "// two (or (three", "c.txt": "none" })
    write("binary", Uint8Array.of(0, 0x74, 0x77, 0x6f))
    const outside = write("~/two.txt", "two")
    symlinkSync(outside, path.join(project, "link.txt"))
    const { call } = calling(project)
    expect(await call("search_files", { text: "two" })).toBe("a.md:2: TWO two\nsrc/b.ts:1: // two (or (three")
    expect(await call("search_files", { text: "(or (", glob: "*.ts" })).toBe("src/b.ts:1: // two (or (three")
    expect(await call("search_files", { text: "two", path: "a.md" })).toBe("a.md:2: TWO two")
    expect(await call("search_files", { text: "four" })).toBe("(Nothing was found.)")
  })

  it("give so much as a model can read", async () => {
    const { project, write } = makeWorld()
    for (let i = 0; i < 1100; i++) write(`many/${i}.txt`, `x`)
    write("long.txt", `${"y".repeat(5000)}needle${"y".repeat(5000)}`)
    const { call } = calling(project)
    expect(await call("list_files", { path: "many" })).toMatch(/\(100 more\./)
    expect(await call("search_files", { text: "x" })).toMatch(/There are more/)
    const found = await call("search_files", { text: "needle" })
    expect(found).toContain("needle")
    expect(found.length).toBeLessThan(300)
  })
})

describe("write_file", () => {
  it("writes a file, with its folders, and leaves nothing else", async () => {
    const { project } = makeWorld({ "run.sh": "old" })
    chmodSync(path.join(project, "run.sh"), 0o755)
    const { call } = calling(project)
    expect(await call("write_file", { path: "a/b/c.txt", content: "grün" })).toBe("Wrote a/b/c.txt (5 bytes).")
    expect(readFileSync(path.join(project, "a/b/c.txt"), "utf8")).toBe("grün")
    expect(await call("write_file", { path: "run.sh", content: "new" })).toBe("Wrote run.sh (3 bytes).")
    expect(statSync(path.join(project, "run.sh")).mode & 0o777).toBe(0o755)
    expect(readdirSync(project).toSorted()).toEqual(["a", "run.sh"])
  })

  it("refuses what is outside, what steers programs, and what is no file", async () => {
    const { home, project, write } = makeWorld({ "a/b.txt": "", ".git/config": "x" })
    const outside = write("~/there.txt", "old")
    symlinkSync(outside, path.join(project, "link.txt"))
    symlinkSync(home, path.join(project, "folder"))
    symlinkSync(path.join(home, "not-yet.txt"), path.join(project, "dangling.txt"))
    symlinkSync(path.join(home, "not-yet"), path.join(project, "dangling"))
    symlinkSync(".git", path.join(project, "innocent"))
    const { call } = calling(project)
    for (const [said, reason] of [
      [outside, "outside"],
      ["../new.txt", "outside"],
      ["link.txt", "outside"],
      ["folder/new.txt", "outside"],
      ["folder/new/deep.txt", "outside"],
      ["dangling.txt", "a link to what is not there"],
      ["dangling/new.txt", "a link to what is not there"],
      [".git/hooks/pre-commit", "Nothing is written to .git"],
      ["a/.GIT/config", "Nothing is written to .GIT"],
      ["innocent/config", "Nothing is written to .git"],
      [".heddle/config.yaml", "Nothing is written to .heddle"],
      ["a", "no file"],
      [".", "is a folder"],
      ["a/b.txt/c", "cannot be accessed"]
    ] as const) {
      const told = await call("write_file", { path: said, content: "new" })
      expect(told.startsWith("! ")).toBe(true)
      expect(told).toContain(reason)
    }
    expect(readFileSync(outside, "utf8")).toBe("old")
    expect(readdirSync(home)).toEqual(["there.txt"])
  })

  it("does not write agents and configurations, which name programs, by no path and no link", async () => {
    const { project, write } = makeWorld({ "agents/clerk.md": "old", "other/shared.md": "old", "notes/x.md": "old" })
    const at = (file: string) => path.join(project, file)
    mkdirSync(at("conf"))
    symlinkSync("../other/shared.md", at("agents/shared.md"))
    symlinkSync("../other/later.md", at("agents/later.md"))
    symlinkSync("circle.md", at("agents/circle.md"))
    symlinkSync("agents", at("innocent"))
    symlinkSync("conf", at(".heddle"))
    write("conf/config.yaml", "old")
    const { call } = calling(project, [], {
      agentFolders: [".heddle/agents", "agents", "own/heddle/agents"].map((folder) => ({
        path: at(folder),
        scope: "project"
      })),
      configFiles: [".heddle/config.yaml", "own/heddle/config.yaml"].map((file) => ({
        path: at(file),
        scope: "project"
      }))
    })
    for (const said of [
      "agents/clerk.md",
      "agents/new.md",
      "Agents/clerk.md",
      "agents/deep/new.md",
      "innocent/clerk.md",
      "other/shared.md",
      "other/later.md",
      "conf/config.yaml",
      "conf/agents/new.md",
      "own/heddle/agents/new.md",
      "own/heddle/config.yaml",
      "agents"
    ]) {
      expect([said, await call("write_file", { path: said, content: "new" })]).toEqual([
        said,
        expect.stringContaining("Nothing is written there.")
      ])
    }
    expect(await call("write_file", { path: "notes/x.md", content: "new" })).toBe("Wrote notes/x.md (3 bytes).")
    expect(readFileSync(at("other/shared.md"), "utf8")).toBe("old")
  })

  it("writes through a link that stays inside, and keeps it", async () => {
    const { project } = makeWorld({ "real.txt": "old" })
    symlinkSync("real.txt", path.join(project, "link.txt"))
    await calling(project).call("write_file", { path: "link.txt", content: "new" })
    expect(readFileSync(path.join(project, "real.txt"), "utf8")).toBe("new")
  })

  it("does not change the other names of a file that has several", async () => {
    const { project, write } = makeWorld()
    const outside = write("~/there.txt", "old")
    linkSync(outside, path.join(project, "hard.txt"))
    await calling(project).call("write_file", { path: "hard.txt", content: "new" })
    expect(readFileSync(outside, "utf8")).toBe("old")
  })
})

describe("ask_user", () => {
  it("asks, with a question that does not steer the terminal", async () => {
    const { asked, call } = calling("/", ["Ada"])
    expect(await call("ask_user", { question: "Who?\u001b[2J" })).toBe("Ada")
    expect(asked).toEqual(["Who?[2J\n> "])
  })

  it("tells the model where there is nobody", async () => {
    expect(await calling("/").call("ask_user", { question: "Who?" })).toMatch(/^! There is nobody to ask/)
  })
})

describe("fetch_url", () => {
  let server: Server
  let at = ""
  beforeAll(async () => {
    server = createServer((request, response) => {
      const send = (type: string, body: string | Uint8Array, status = 200, more: Record<string, string> = {}) =>
        response.writeHead(status, { "content-type": type, ...more }).end(body)
      switch (request.url) {
        case "/page":
          return send("text/html; charset=utf-8", "<title>T</title><script>no</script><h1>Hours</h1><p>At nine.</p>")
        case "/old":
          return send("text/html", Uint8Array.of(0x66, 0xfc, 0x72))
        case "/data":
          return send("application/json", '{"a":1}')
        case "/picture":
          return send("image/png", "x")
        case "/there":
          return send("text/plain", "", 302, { location: "/data" })
        case "/round":
          return send("text/plain", "", 302, { location: "/round" })
        case "/clouds":
          return send("text/plain", "", 302, { location: "http://169.254.169.254/latest/meta-data" })
        case "/file":
          return send("text/plain", "", 302, { location: "file:///etc/passwd" })
        case "/secret":
          return send("text/plain", "", 302, { location: "http://user:pass@127.0.0.1/" })
        case "/endless":
          response.writeHead(200, { "content-type": "text/plain" })
          const more = () => {
            while (response.write("x".repeat(65_536)));
          }
          response.on("drain", more)
          return more()
        default:
          return send("text/plain", "no", 404)
      }
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const fetched = (url: string) => calling("/").call("fetch_url", { url })

  it("gives the text of a page, and of what else is text", async () => {
    const page = await fetched(`${at}/page`)
    expect(page).toContain("At nine.")
    expect(page).not.toMatch(/<|script|no/)
    expect(await fetched(`${at}/data`)).toBe('{"a":1}')
    expect(await fetched(`${at}/old`)).toContain("für")
    expect(await fetched(`${at}/there`)).toBe('{"a":1}')
  })

  it("reads no more than so much", async () => {
    const text = await fetched(`${at}/endless`)
    expect(text.endsWith("(There is more.)")).toBe(true)
    expect(text.length).toBeLessThan(100_100)
  })

  it("refuses what it must not ask for, and tells what it cannot read", async () => {
    for (const [url, reason] of [
      [`${at}/nothing`, "status 404"],
      [`${at}/picture`, "no text, but image/png"],
      [`${at}/round`, "more than 5 times"],
      [`${at}/clouds`, "not fetched from"],
      [`${at}/file`, "Only http and https"],
      [`${at}/secret`, "user name or a password"],
      ["http://169.254.169.254/latest", "not fetched from"],
      ["http://2852039166/", "not fetched from"],
      ["http://[::ffff:169.254.169.254]/", "not fetched from"],
      ["http://[fd00:ec2::254]/", "not fetched from"],
      ["file:///etc/passwd", "Only http and https"],
      ["http://user:canary@127.0.0.1/", "user name or a password"],
      ["nonsense", "no URL"],
      ["http://127.0.0.1:9/", "ECONNREFUSED"]
    ] as const) {
      const told = await fetched(url)
      expect(told.startsWith("! ")).toBe(true)
      expect(told).toContain(reason)
      expect(told).not.toContain("canary")
    }
  })

  it("connects to the address that was looked at, and to none of a cloud", async () => {
    const looked = (host: string, all: boolean) =>
      new Promise<unknown>((resolve) =>
        lookup(host, { all }, (error, found) => resolve(error === null ? found : error))
      )
    expect(await looked("127.0.0.1", false)).toBe("127.0.0.1")
    expect(await looked("127.0.0.1", true)).toEqual([{ address: "127.0.0.1", family: 4 }])
    expect(await looked("169.254.169.254", false)).toBeInstanceOf(Blocked)
    expect(await looked("nowhere.invalid", false)).toBeInstanceOf(Error)
  })

  it("knows the addresses of clouds in all ways to write them", () => {
    for (const address of [
      "169.254.1.1",
      "::ffff:169.254.1.1",
      "fe80::1%eth0",
      "[fd00:ec2::254]",
      "64:ff9b::a9fe:a9fe"
    ]) {
      expect(isBlocked(address)).toBe(true)
    }
    for (const address of ["127.0.0.1", "::1", "10.0.0.1", "example.org", "fd00::1"])
      expect(isBlocked(address)).toBe(false)
  })
})
