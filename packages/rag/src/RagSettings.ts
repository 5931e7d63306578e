/**
 * How retrieved passages are used, as data. What is not said is left to whoever says
 * it less closely: request over step over agent over defaults. What was set is set, a
 * zero and a `false` too.
 *
 * | mode | what happens |
 * | --- | --- |
 * | `none` | nothing is searched |
 * | `stuff` | the passages stand in the instructions |
 * | `map_reduce` | the model takes notes on each passage, then makes one text of the notes, which stands in the instructions |
 */
import { merge as mergeSettings, oneOf, optional, expecting, wholeFrom } from "@heddle/core/settings"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The modes. */
export const RagMode = oneOf("none", "stuff", "map_reduce")
/** The modes. */
export type RagMode = typeof RagMode.Type

/** A time, such as `"10 seconds"`, or in milliseconds. */
const Time = Schema.Union(
  Schema.JsonNumber.pipe(Schema.nonNegative()),
  Schema.String.pipe(
    Schema.filter(
      (text): text is `${number} ${Duration.Unit}` =>
        !text.startsWith("-") && Option.isSome(Duration.decodeUnknown(text))
    )
  )
).annotations(expecting('a time such as "10 seconds", or milliseconds from 0'))

/** What can be said of retrieval. All of it can be left out. */
export const RagSettings = Schema.Struct({
  /** `stuff` unless said. */
  mode: optional(RagMode),
  /** Passages that are searched for; with 0 nothing is searched. 5 unless said. */
  topK: optional(wholeFrom(0)),
  /** Passages with a lower score are left out. 0 unless said, which leaves out none. */
  minScore: optional(Schema.Number.pipe(Schema.between(0, 1)).annotations(expecting("a number from 0 to 1"))),
  /** Of `stuff`: whether the model makes one text of the passages first. `false` unless said. */
  useSummary: optional(Schema.Boolean),
  /** Of `map_reduce`: passages that notes are taken on, the best. 5 unless said. */
  mapMaxChunks: optional(wholeFrom(1)),
  /** Of `map_reduce`: calls of the model at once. 4 unless said. */
  concurrency: optional(wholeFrom(1)),
  /** Characters of what is quoted: of passages with their tags, or of the one text with its sources; and of what a call for notes is given. 12,000 unless said. */
  maxCharacters: optional(wholeFrom(0)),
  /** For the search, which is stopped then, without waiting until it has. 10 seconds unless said. */
  searchTimeout: optional(Time),
  /** For the notes on one passage. 30 seconds unless said. */
  mapTimeout: optional(Time),
  /** For making one text of notes or of passages. 1 minute unless said. */
  reduceTimeout: optional(Time),
  /** Whether the run goes on, with a warning, or fails when the search fails. A defect is no failure: it ends the run. `continue` unless said. */
  onFailure: optional(oneOf("continue", "fail")),
  /** The name of the model that takes notes and makes one text of them, for `ModelOptions.model`. The model's own default unless said. */
  notesModel: optional(Schema.NonEmptyString),
  /** Whether the model is asked to cite passages by their numbers. `true` unless said. */
  citations: optional(Schema.Boolean)
}).annotations({ identifier: "RagSettings" })
/** What can be said of retrieval. All of it can be left out. */
export type RagSettings = typeof RagSettings.Type

/** Settings with nothing left to be said. */
export interface Effective extends Required<Omit<RagSettings, "notesModel">> {
  readonly notesModel: string | undefined
}

/** What holds where nothing else is said. */
export const defaults = {
  mode: "stuff",
  topK: 5,
  minScore: 0,
  useSummary: false,
  mapMaxChunks: 5,
  concurrency: 4,
  maxCharacters: 12_000,
  searchTimeout: "10 seconds",
  mapTimeout: "30 seconds",
  reduceTimeout: "1 minute",
  onFailure: "continue",
  citations: true
} as const satisfies RagSettings

/** Merges settings, the first over the others. */
export const merge: (...settings: ReadonlyArray<RagSettings | undefined>) => RagSettings = mergeSettings

/** Fills in what nobody has said. */
export const effective = (settings: RagSettings): Effective => ({
  ...defaults,
  ...settings,
  notesModel: settings.notesModel
})
