import type { Position, Remark } from "./finding.ts";

/** Lists and sections within each other. No configuration has so many, and readers have only so much room. */
export const MAX_DEPTH = 100;

/** A place where they become too many. */
export function tooDeep(position: Position): Remark & { position: Position } {
  return {
    code: "config_syntax",
    path: [],
    message: `has more than ${MAX_DEPTH} lists or sections within each other`,
    hint: "Remove the brackets: a configuration is a few levels deep.",
    position,
  };
}

/** Where the brackets of a text become too many; its beginning where they do not. */
export function deepPlace(text: string): Position {
  let depth = 0;
  for (const [index, line] of text.split("\n").entries())
    for (let at = 0; at < line.length; at++) {
      if (line[at] === "[" || line[at] === "{") depth++;
      if (line[at] === "]" || line[at] === "}") depth--;
      if (depth > MAX_DEPTH) return { line: index + 1, column: at + 1 };
    }
  return { line: 1, column: 1 };
}
