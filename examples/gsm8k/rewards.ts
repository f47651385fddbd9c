import { reward } from "spotter";

/** 1 if the number behind #### is that of the worked answer. */
export const correct = reward(({ row, response }) =>
  finalNumber(response.content) === finalNumber(String(row.answer)) ? 1 : 0,
);

/** 1 if it calculates what the question asks for, whatever comes out: most of the way to the right number. */
export const step = reward({ weight: 0.5 }, ({ row, response }) =>
  calculation(response.content) === calculation(String(row.answer)) ? 1 : 0,
);

/** 1 if the answer ends with #### and a number: without it nothing can be right. */
export const form = reward({ weight: 0.2 }, ({ response }) =>
  finalNumber(response.content) === undefined ? 0 : 1,
);

/** The number behind the last ####, with commas as gsm8k writes thousands; undefined where there is none. */
export function finalNumber(text: string): number | undefined {
  const found = /####\s*(-?\d[\d,]*(?:\.\d+)?)\s*$/.exec(text);
  return found?.[1] === undefined ? undefined : Number(found[1].replaceAll(",", ""));
}

/** What stands in <<>> before its result, as "3+4". */
function calculation(text: string): string | undefined {
  return /<<([^<>=]*)=/.exec(text)?.[1];
}
