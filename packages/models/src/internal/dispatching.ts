/**
 * The models of a registry as one chat model.
 */
import { Call, type ChatModel, Errors } from "@heddle/core"
import * as Effect from "effect/Effect"
import type { ModelUnavailable } from "../ModelProvider.ts"
import type { Service } from "../ModelRegistry.ts"

/** A call goes to the model that `name` gives for it, which is looked up then and held while the call lasts. */
export const dispatching = (
  registry: Service,
  name: (options: ChatModel.ModelOptions) => string
): ChatModel.Service => ({
  call: (request) => {
    // The name is the registry's; the provider has been told its own.
    const { model: _model, ...options } = request.options
    return Call.fromSink((sink) =>
      registry.get({ model: name(request.options) }).pipe(
        Effect.mapError(asModelError),
        Effect.flatMap((model) => Call.into(model.call({ ...request, options }), sink)),
        Effect.scoped
      )
    )
  }
})

const asModelError = (cause: ModelUnavailable): Errors.ModelError =>
  new Errors.ModelError({
    reason: cause.reason === "MissingSecret" ? "Authentication" : "BadRequest",
    message: cause.message,
    cause
  })
