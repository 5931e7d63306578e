/**
 * The product of one vector with many: the arithmetic of a search by vectors, and most of
 * the time that it takes. WebAssembly does it with the vector instructions of the
 * processor; JavaScript, which has none, takes several times as long.
 */

/** What of WebAssembly is used. Neither the libraries of the language nor those of Node declare it. */
interface Assembly {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface Machine {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** As `products.wat` says. */
  readonly multiply: (count: number, bytes: number) => void
}

/** `products.wat` as code, which a test compares with it. */
export const code =
  "AGFzbQEAAAABBgFgAn9/AAMCAQAFAwEABAcVAgZtZW1vcnkCAAhtdWx0aXBseQAACoYCAYMCAwR/AnsBfSABQWBxIQIgASEEIAEgAEEBamwhBQNAQQAhA/0MAAAAAAAAAAAAAAAAAAAAACEG/QwAAAAAAAAAAAAAAAAAAAAAIQdDAAAAACEIAkADQCADIAJPDQEgBiAD/QAEACAEIANq/QAEAP3mAf3kASEGIAcgA/0ABBAgBCADav0ABBD95gH95AEhByADQSBqIQMMAAsLAkADQCADIAFPDQEgCCADKgIAIAQgA2oqAgCUkiEIIANBBGohAwwACwsgBiAH/eQBIQYgBSAIIAb9HwAgBv0fAZIgBv0fAiAG/R8DkpKSOAIAIAVBBGohBSAEIAFqIQQgAEEBayIADQALCw=="

/** Nothing where there is no WebAssembly, as with `--jitless`, or one without vector instructions. */
const started = (): { readonly numbers: Float32Array; readonly multiply: Machine["multiply"] } | undefined => {
  try {
    const { Instance, Module } = (globalThis as unknown as { readonly WebAssembly: Assembly }).WebAssembly
    // The code exports these two.
    const { memory, multiply } = new Instance(new Module(Buffer.from(code, "base64"))).exports as Machine
    return { numbers: new Float32Array(memory.buffer), multiply }
  } catch {
    return undefined
  }
}

let machine: ReturnType<typeof started> | null = null

/** The products of a vector with those of its size that stand one behind the other. */
export const products = (vector: Float32Array, others: Float32Array): Float32Array => {
  const size = vector.length
  const made = new Float32Array(others.length / size)
  if (machine === null) machine = started()
  // So many have room at once, each with its product.
  const most = machine === undefined ? 0 : Math.floor((machine.numbers.length - size) / (size + 1))
  if (machine === undefined || most < 1) return made.map((_, n) => product(vector, others, n * size))
  const { multiply, numbers } = machine
  numbers.set(vector)
  for (let first = 0; first < made.length; first += most) {
    const some = others.subarray(first * size, (first + most) * size)
    const count = some.length / size
    numbers.set(some, size)
    multiply(count, vector.byteLength)
    made.set(numbers.subarray(size + some.length, size + some.length + count), first)
  }
  return made
}

/** Four sums beside each other: one alone would have to wait for itself at each step. */
const product = (vector: Float32Array, all: Float32Array, at: number): number => {
  const { length } = vector
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let i = 0
  for (; i + 3 < length; i += 4) {
    a += vector[i]! * all[at + i]!
    b += vector[i + 1]! * all[at + i + 1]!
    c += vector[i + 2]! * all[at + i + 2]!
    d += vector[i + 3]! * all[at + i + 3]!
  }
  for (; i < length; i++) a += vector[i]! * all[at + i]!
  return a + b + c + d
}
