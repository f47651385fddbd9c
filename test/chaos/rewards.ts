import { reward } from "spotter";

/** Nothing but a function of the answer: two runs of one seed get the same rewards. */
export const varied = reward(async (args) => {
  await new Promise((resolve) => setTimeout(resolve, Number(args.row.waitMs)));
  const text = args.response.content;
  return new Set(text).size / Math.max(1, text.length);
});
