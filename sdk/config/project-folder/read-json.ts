import { parse, type AnyNode, type Location } from "@humanwhocodes/momoa";
import { type ConfigDocument, emptyDocument, placeKey } from "./config-document.ts";
import type { Path, Position } from "./finding.ts";
import { deepPlace, MAX_DEPTH, tooDeep } from "./too-deep.ts";

/** Reads config.json with the place of every key and value. */
export function readJson(text: string, file: string): ConfigDocument {
  const out = emptyDocument(file);
  try {
    out.value = valueOf(parse(text, { mode: "json" }).body, [], out);
  } catch (error) {
    if (error instanceof RangeError) {
      out.remarks.push(tooDeep(deepPlace(text)));
      return out;
    }
    const { message, line = 1, column = 1 } = error as Error & { line?: number; column?: number };
    const what = message.replace(/\s*\(\d+:\d+\)$/, "");
    out.remarks.push({
      code: "config_syntax",
      path: [],
      message: `is not JSON here: ${what}`,
      hint: "Mend the line; JSON has no comments and no comma after the last value.",
      position: { line, column },
    });
  }
  return out;
}

function valueOf(node: AnyNode, path: Path, out: ConfigDocument, key?: Position): unknown {
  const place = positionAt(node.loc.start);
  out.places.set(placeKey(path), { value: place, ...(key && { key }) });
  if (path.length > MAX_DEPTH) {
    const isTold = out.remarks.some(({ code }) => code === "config_syntax");
    if (!isTold) out.remarks.push(tooDeep(place));
    return null;
  }
  switch (node.type) {
    case "Object": {
      const seen = new Map<string, Position>();
      const entries = node.members.map(({ name, value }): [string, unknown] => {
        const word = name.type === "String" ? name.value : name.name;
        const position = positionAt(name.loc.start);
        const before = seen.get(word);
        if (before)
          out.remarks.push({
            code: "duplicate_key",
            path: [...path, word],
            message: `is given twice; it stands in line ${before.line} already`,
            hint: "Keep one of the two: other readers take the last.",
            position,
          });
        seen.set(word, before ?? position);
        return [word, valueOf(value, [...path, word], out, position)];
      });
      return Object.fromEntries(entries);
    }
    case "Array":
      return node.elements.map(({ value }, index) => valueOf(value, [...path, index], out));
    case "String":
    case "Number":
    case "Boolean":
      return node.value;
    default:
      return null;
  }
}

function positionAt({ line, column }: Location): Position {
  return { line, column };
}
