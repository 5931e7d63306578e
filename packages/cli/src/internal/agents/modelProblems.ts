/** Whether there is the model that a file names. */
import { unknownName } from "@heddle/core/names"

/** What is wrong with the name of a model: `provider/model`, or a name in `models` of the configuration. */
export const modelProblem = (
  model: unknown,
  known: { readonly models: ReadonlyArray<string>; readonly providers: ReadonlyArray<string> }
): string | undefined => {
  if (typeof model !== "string" || model === "" || known.models.includes(model)) return undefined
  const slash = model.indexOf("/")
  if (slash < 0 || slash === model.length - 1) return `${unknownName("model", model, known.models)} (or provider/model)`
  const provider = model.slice(0, slash)
  return known.providers.includes(provider) ? undefined : unknownName("provider", provider, known.providers)
}
