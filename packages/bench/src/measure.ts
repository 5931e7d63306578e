/**
 * Measuring: competitors take turns in rounds, so that whatever else the
 * machine does hits all of them alike.
 */

/** Who does the work. */
export type Subject = "heddle" | "effect" | "javascript"

/** What was measured. */
export interface Result {
  readonly case: string
  readonly subject: Subject
  readonly unit: string
  readonly median: number
  readonly min: number
  readonly max: number
}

/** A case as one subject does it. */
export interface Competitor {
  readonly case: string
  readonly subject: Subject
  readonly unit: "ns" | "µs" | "ms"
  /** Does the work `times` times and throws if it was not really done. */
  readonly run: (times: number) => void | Promise<void>
  /** Units of work in one of those times, for example turns. */
  readonly size?: number
}

/** How long and how often. A sample takes about `sampleMs`. */
export interface Plan {
  readonly rounds?: number
  readonly sampleMs?: number
  /** Runs in a sample, where that is not to be found out. */
  readonly times?: number
}

const perMillisecond = { ns: 1e6, µs: 1e3, ms: 1 }

/** Bytes in use once the garbage is gone. */
export const heapUsed = (): number => {
  if (globalThis.gc === undefined) throw new Error("Run node with --expose-gc.")
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

/** Throws when the work was not done. */
export const assert = (done: boolean, what: string) => {
  if (!done) throw new Error(`The work was not done: ${what}`)
}

export const summary = (samples: ReadonlyArray<number>): Pick<Result, "median" | "min" | "max"> => {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (i: number) => sorted[i] ?? Number.NaN
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  return { median, min: at(0), max: at(sorted.length - 1) }
}

const elapsed = async (run: Competitor["run"], times: number) => {
  const start = performance.now()
  await run(times)
  return performance.now() - start
}

/** Enough for the compiler to be through with the hot code. */
const warmMs = 500

/** Warms up, and finds out how many runs fill a sample. */
const calibrate = async (run: Competitor["run"], sampleMs: number) => {
  let times = 1
  let warm = 0
  while (true) {
    const took = await elapsed(run, times)
    warm += took
    if (took >= sampleMs / 2 && warm >= warmMs) return Math.max(1, Math.round((times * sampleMs) / took))
    times = Math.max(times, Math.min(times * 2, Math.ceil((times * sampleMs) / Math.max(took, 0.01))))
  }
}

/**
 * The samples of each competitor, in rounds: the same index is the same round.
 * Garbage is not collected between them: a forced collection throws away what
 * the compiler knows, and doubles what the next sample takes.
 */
export const sample = async (
  competitors: ReadonlyArray<Competitor>,
  { rounds = 15, sampleMs = 60, times }: Plan = {}
): Promise<ReadonlyArray<ReadonlyArray<number>>> => {
  const counts: Array<number> = []
  for (const { run } of competitors) counts.push(times ?? (await calibrate(run, sampleMs)))
  const samples = competitors.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < competitors.length; i++) {
      // Each round begins with another competitor.
      const index = (i + round) % competitors.length
      const { run, size = 1, unit } = competitors[index]!
      const runs = counts[index]!
      samples[index]!.push(((await elapsed(run, runs)) * perMillisecond[unit]) / (runs * size))
    }
  }
  return samples
}

/** Measures competitors beside each other. */
export const measure = async (competitors: ReadonlyArray<Competitor>, plan?: Plan): Promise<ReadonlyArray<Result>> => {
  const samples = await sample(competitors, plan)
  return competitors.map(({ case: name, subject, unit }, i) => ({ case: name, subject, unit, ...summary(samples[i]!) }))
}
