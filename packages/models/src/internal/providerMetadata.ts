/**
 * Metadata as providers give it with the pieces of a part: a record for each of them.
 */

/** A record for each provider. */
export type ByProvider = { readonly [provider: string]: { readonly [key: string]: unknown } | undefined }

/** Metadata that came earlier and later: a provider adds to what it has said. */
export const merge = <M extends ByProvider>(before: M | undefined, after: M | undefined): M | undefined => {
  if (before === undefined || after === undefined) return before ?? after
  const both = Object.entries(after).map(([provider, of]) => [provider, { ...before[provider], ...of }] as const)
  // A record for each provider of either, as both of them are.
  return { ...before, ...Object.fromEntries(both) } as M
}
