/**
 * Where things are: the project that the command was called in, its agents, its
 * settings, and the file in which conversations are kept.
 */
import * as Context from "effect/Context"
import type { Scope } from "../AgentFile.ts"
import type { Config } from "./config.ts"

/** Where things are. All paths are absolute. */
export interface Service {
  /** The nearest folder upwards of this user that has a `.heddle`, else the one in which the command was called. Links in it are resolved. */
  readonly root: string
  /** Where agents are looked for, the first before the others. They need not be there. */
  readonly agentFolders: ReadonlyArray<{ readonly path: string; readonly scope: Scope }>
  /** What the configuration files say, that of the project over that of the user. */
  readonly config: Config
  /** Which file has said it, as it is shown. Of what several say together: the first of them. */
  readonly saidBy: { readonly [Key in keyof Config]?: string }
  /** Those that could be: the project's, then the user's. */
  readonly configFiles: ReadonlyArray<{ readonly path: string; readonly scope: Scope }>
  /** The folder of what is kept. */
  readonly dataFolder: string
  /** The file of conversations, histories and indexes. */
  readonly database: string
  /** A path as one reads it: in the project from the folder on in which the command was called, else as it is. */
  readonly shown: (path: string) => string
}

/** Where things are. */
export class Project extends Context.Tag("@heddle/cli/Project")<Project, Service>() {}
