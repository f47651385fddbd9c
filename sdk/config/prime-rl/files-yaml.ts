import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from "yaml";
import { checkKey, FileFault, originsBelow, type FileReader, type Place } from "./files-fault.ts";
import type { Origins } from "./provenance.ts";

/** More than any configuration; what refers to itself never ends. */
const MAX_NODES = 100_000;

/** Reads one YAML 1.2 document. An empty one sets nothing. */
export const readYaml: FileReader = (text, file) => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    const place = { line, column: col };
    if (error.code === "MULTIPLE_DOCS")
      throw new FileFault(`${file} holds several documents.`, "Keep one, or name a file for each.", place);
    const message = `${file} is not YAML: ${error.message.replace(/\.$/, "")}.`;
    throw new FileFault(message, "Check the indentation there.", place);
  }
  const origins: Origins = {};
  const { contents } = document;
  return {
    value: contents === null ? {} : new YamlTree(document, file, lines).read(contents, origins),
    origins,
  };
};

class YamlTree {
  readonly #document: Document;
  readonly #file: string;
  readonly #lines: LineCounter;
  #nodes = 0;

  constructor(document: Document, file: string, lines: LineCounter) {
    this.#document = document;
    this.#file = file;
    this.#lines = lines;
  }

  read(node: Node, origins: Origins): unknown {
    if (++this.#nodes > MAX_NODES)
      throw new FileFault("This file is too large, or refers to itself.", "Write it out.", this.#place(node));
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target) return this.read(target, origins);
      throw new FileFault(`There is no anchor &${node.source}.`, "Define it above.", this.#place(node));
    }
    if (isMap(node)) return this.#map(node.items, origins);
    if (isSeq(node)) {
      return (node.items as Node[]).map((item, index) =>
        this.read(item, originsBelow(origins, index, this.#file, this.#place(item))),
      );
    }
    return this.#scalar(node);
  }

  #map(items: readonly { key: unknown; value: unknown }[], origins: Origins): Record<string, unknown> {
    const table: Record<string, unknown> = {};
    for (const { key, value } of items) {
      const place = this.#place(key as Node);
      if (!isScalar(key)) throw new FileFault("A key has to be a text.", "Quote it.", place);
      const name = String(key.value);
      checkKey(name, place);
      const below = originsBelow(origins, name, this.#file, place);
      table[name] = value === null ? null : this.read(value as Node, below);
    }
    return table;
  }

  #scalar(node: Node): unknown {
    const value: unknown = isScalar(node) ? node.value : null;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    const message = "This is no text, finite number, true, false or null.";
    throw new FileFault(message, "Quote it.", this.#place(node));
  }

  #place(node: Node): Place {
    const { line, col } = this.#lines.linePos(node.range?.[0] ?? 0);
    return { line, column: col };
  }
}
