import { reward } from "spotter";

/** How close to three lines of about 20 characters each: 1 is perfect. */
export const shape = reward(({ response }) => {
  const lines = response.content.trim().split("\n");
  if (lines.length !== 3) return 0;
  const off = lines.reduce((sum, line) => sum + Math.abs(line.length - 20), 0);
  return Math.max(0, 1 - off / 40);
});

/** Whether the poem names what it is about. */
export const topic = reward({ weight: 0.5 }, ({ response, metadata }) =>
  response.content.toLowerCase().includes(String(metadata.topic)) ? 1 : 0,
);
