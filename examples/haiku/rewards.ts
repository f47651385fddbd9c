/**
 * What the haiku run is rewarded for. Every export of this file judges every sampled poem; a poem's total is
 * the sum of weight times score.
 *
 * @module
 */
import { reward } from "spotter";
import { namesTopic, scoreHaiku } from "./score-haiku.ts";

/** The tutorial's reward: 0 for a poem of 5, 7 and 5 syllables, less for every syllable off. */
export const haiku = reward({ description: "minus the syllables off 5-7-5" }, async ({ response }) =>
  scoreHaiku(response.content),
);

/**
 * A small bonus for naming the topic. Syllables alone would be learnt by forgetting what the poem is about:
 * a word that always fits is safer than the one that was asked for.
 */
export const topic = reward(
  { weight: 1, description: "1 if the topic is named" },
  async ({ row, response }) =>
    typeof row.keywords === "string" && namesTopic(response.content, row.keywords) ? 1 : 0,
);
