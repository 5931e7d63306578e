/** What this command has besides what every `heddle` has. */
import type { ModelProvider } from "@heddle/models"
import * as Context from "effect/Context"
import type { Registry } from "./agents/definition.ts"

/** What agent files can name. */
export interface Service {
  readonly handlers: Registry
  /** Providers of models, which can be named as `provider/model`. */
  readonly providers: ReadonlyArray<ModelProvider.ModelProvider>
}

/** What agent files can name. */
export class Extensions extends Context.Tag("@heddle/cli/Extensions")<Extensions, Service>() {}
