/**
 * A chat: what it is about, and what its commands work with.
 */
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import type { ContextMode } from "@heddle/memory"
import type { ModelRegistry } from "@heddle/models/ModelRegistry"
import type * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import type { AgentFile } from "../../AgentFile.ts"
import type { Agents } from "../agents/Agents.ts"
import type { Runnable } from "../agents/build.ts"
import type { Asking } from "../Asking.ts"
import type { Environment } from "../Environment.ts"
import type { Extensions } from "../Extensions.ts"
import type { CliError } from "../failure.ts"
import type { Output } from "../Output.ts"
import type { Project } from "../Project.ts"
import type { Running } from "../running.ts"
import type { Services } from "../services.ts"

/** A chat. */
export interface Chat {
  readonly session: string
  /** Who answers what is said to nobody else. */
  readonly agent: string
  /** Context modes that were said for this chat, over what files say. */
  readonly modes: Map<string, ContextMode.Name>
  readonly roster: Roster
}

/** The agents, as their files are at the moment. */
export interface Roster {
  readonly agents: Effect.Effect<Agents, CliError, ModelRegistry>
  /** All that commands which run agents have. */
  readonly running: Effect.Effect<Running, CliError, ModelRegistry>
  /** An agent that can be run until the scope closes; the same one until a file changes. */
  readonly get: (
    name: string
  ) => Effect.Effect<{ readonly file: AgentFile; readonly runnable: Runnable }, CliError, ModelRegistry | Scope>
  /** The names when the files were read last, for completion. */
  readonly names: () => ReadonlyArray<string>
}

/** What the commands of a chat need. */
export type Needs = Services | Asking | Output | Environment | Extensions | Project | FileSystem | Path
