import { parse, type AnyNode } from "@humanwhocodes/momoa";
import type { Path, Position } from "./finding.ts";

/** Where the values of one line stand. Parsed with places only when something has to be pointed at. */
export class RowPositions {
  readonly #root: AnyNode | undefined;
  readonly #line: number;

  constructor(text: string, line: number) {
    this.#line = line;
    try {
      // JSON5 takes NaN and Infinity, which Python writes.
      this.#root = parse(text, { mode: "json5" }).body;
    } catch {
      this.#root = undefined;
    }
  }

  at(path: Path, atKey = false): Position {
    let node = this.#root;
    let key: AnyNode | undefined;
    for (const step of path) {
      const found = node && child(node, step);
      // Missing: what is around it.
      if (!found) return this.#position(node);
      ({ node, key } = found);
    }
    return this.#position((atKey ? key : undefined) ?? node);
  }

  #position(node: AnyNode | undefined): Position {
    return { line: this.#line, column: node?.loc.start.column ?? 1 };
  }
}

function child(node: AnyNode, step: string | number): { node: AnyNode; key?: AnyNode } | undefined {
  if (node.type === "Array") {
    const element = node.elements[Number(step)];
    return element && { node: element.value };
  }
  if (node.type !== "Object") return undefined;
  // The last of two equal keys is the one that counts.
  const member = node.members.findLast(
    ({ name }) => (name.type === "String" ? name.value : name.name) === step,
  );
  return member && { node: member.value, key: member.name };
}
