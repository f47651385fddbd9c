import { distill } from "./distill.ts";
import { game } from "./game.ts";
import { haiku } from "./haiku.ts";
import { judge } from "./judge.ts";
import { math } from "./math.ts";
import { sft } from "./sft.ts";
import type { Template } from "./template.ts";
import { tools } from "./tools.ts";

/** What `spotter init --template` takes; the first is the one without it. */
export const TEMPLATES: Readonly<Record<string, Template>> = {
  haiku,
  math,
  tools,
  game,
  judge,
  sft,
  distill,
};
