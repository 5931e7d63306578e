/** What checks data by a JSON Schema. It takes a moment to load, so it is loaded by those who use it. */

/** Makes one, for the draft that a schema says that it is in. */
export const ajvOf = async (jsonSchema: Readonly<Record<string, unknown>>) => {
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const
  // It is CommonJS, of whose names a bundle knows the default alone.
  if (String(jsonSchema["$schema"] ?? "").includes("2020-12")) {
    const { default: ajv } = await import("ajv/dist/2020.js")
    return new ajv.Ajv2020(options)
  }
  const { default: ajv } = await import("ajv")
  return new ajv.Ajv(options)
}
