/** What is installed where this command runs. */
import { createRequire } from "node:module"

/** The version of Node, without the `v`. */
export const nodeVersion: string = process.versions.node

const { resolve } = createRequire(import.meta.url)

/** Whether a package can be imported from here. It is not loaded. */
export const isInstalled = (name: string): boolean => {
  try {
    resolve(name)
    return true
  } catch (error) {
    // One that is for `import` alone is found, and then refused.
    return (error as { readonly code?: unknown }).code !== "MODULE_NOT_FOUND"
  }
}
