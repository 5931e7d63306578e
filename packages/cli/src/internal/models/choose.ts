/**
 * Which model answers, and why: the closest one who says it.
 */

/** A model, and who has said so. */
export interface Choice {
  /** `provider/model`, or a name in `models` of the configuration. */
  readonly model: string
  /** Who has said so, for a person: `--model`, a path, `HEDDLE_MODEL`, or what was found. */
  readonly from: string
}

/** A model that works without a key and without a network. */
export const offline = "offline/offline"
