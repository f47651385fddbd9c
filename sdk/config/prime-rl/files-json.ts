import { parse, type AnyNode, type DocumentNode, type MemberNode } from "@humanwhocodes/momoa";
import { checkKey, FileFault, originsBelow, type FileReader, type Place } from "./files-fault.ts";
import type { Origins } from "./provenance.ts";

/** Reads JSON. A key twice in one object is refused. */
export const readJson: FileReader = (text, file) => {
  const origins: Origins = {};
  return { value: valueOf(documentOf(text, file).body, origins, file), origins };
};

function documentOf(text: string, file: string): DocumentNode {
  try {
    return parse(text, { mode: "json" });
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw faultOf(text, file, error as Error & Partial<Place>);
  }
}

/** Node says best what is wrong, the parser where. */
function faultOf(text: string, file: string, { line, column, message }: Error & Partial<Place>): FileFault {
  let why = message;
  try {
    JSON.parse(text);
  } catch (error) {
    why = (error as Error).message.replace(/,? (in JSON )?at position.*$|,? "[^]*is not valid JSON$/, "");
  }
  const place = line === undefined || column === undefined ? undefined : { line, column };
  return new FileFault(`${file} is not JSON: ${why}.`, "Check quotes, commas and brackets there.", place);
}

function valueOf(node: AnyNode, origins: Origins, file: string): unknown {
  switch (node.type) {
    case "Object":
      return objectOf(node.members, origins, file);
    case "Array":
      return node.elements.map(({ value }, index) =>
        valueOf(value, originsBelow(origins, index, file, value.loc.start), file),
      );
    case "Number":
      if (Number.isFinite(node.value)) return node.value;
      throw new FileFault("This number is too large.", "Write a smaller one.", node.loc.start);
    case "String":
    case "Boolean":
      return node.value;
    default:
      return null;
  }
}

function objectOf(members: readonly MemberNode[], origins: Origins, file: string): Record<string, unknown> {
  const table: Record<string, unknown> = {};
  for (const { name, value } of members) {
    const key = name.type === "String" ? name.value : name.name;
    checkKey(key, name.loc.start);
    if (Object.hasOwn(table, key))
      throw new FileFault(`${key} stands here twice.`, "Keep one of them.", name.loc.start);
    table[key] = valueOf(value, originsBelow(origins, key, file, name.loc.start), file);
  }
  return table;
}
