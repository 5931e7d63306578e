/** Which model answers: one that is asked for, one that there is a key for, or the offline model. */
import { ModelRegistry } from "@heddle/models"
import * as AiSdk from "@heddle/models/aiSdk"
import { Layer } from "effect"

/** Models that are cheap and good enough, and the keys that they need. */
const known = [
  { key: "ANTHROPIC_API_KEY", model: "anthropic/claude-haiku-4-5" },
  { key: "OPENAI_API_KEY", model: "openai/gpt-5-mini" },
  { key: "GOOGLE_GENERATIVE_AI_API_KEY", model: "google/gemini-2.5-flash" }
] as const

/** A model that works without a key. */
export const offline = "offline/offline"

/** The model that is used: `provider/model`. */
export const chosen = (asked: string | undefined, env: NodeJS.ProcessEnv): string =>
  asked ?? known.find(({ key }) => (env[key] ?? "").trim() !== "")?.model ?? offline

/** The model, from a registry with the one entry. */
export const layerOf = (name: string) => {
  const slash = name.indexOf("/")
  const entry = { name, provider: name.slice(0, slash), model: name.slice(slash + 1) }
  const registry = ModelRegistry.layer({
    providers: [AiSdk.anthropic, AiSdk.google, AiSdk.ollama, AiSdk.openai],
    models: [entry]
  })
  return Layer.provide(ModelRegistry.layerChatModel(name), registry)
}
