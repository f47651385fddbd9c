/**
 * What the last answer of a conversation is rewarded for.
 *
 * @module
 */
import { reward } from "spotter";
import { namesTopic } from "../haiku/score-haiku.ts";

/** The last question does not name the topic: only who remembers the first one can. */
export const topic = reward(
  { description: "1 if the poem is about the word of the first question" },
  (args) => (namesTopic(args.response.content, String(args.row.topic)) ? 1 : 0),
);

/** Without it, the surest way to name a topic would be to say nothing else. */
export const form = reward({ description: "-1 unless there are three lines" }, ({ response }) =>
  response.content.trim().split("\n").length === 3 ? 0 : -1,
);
