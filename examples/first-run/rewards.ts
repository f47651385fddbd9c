import { reward } from "spotter";

/** Three lines, each as close to 20 characters as can be. 0 is perfect. */
export const shape = reward(async ({ response }) => {
  const lines = response.content.trim().split("\n");
  if (lines.length !== 3) return -5;
  return -lines.reduce((off, line) => off + Math.abs(line.length - 20), 0) / 10;
});
