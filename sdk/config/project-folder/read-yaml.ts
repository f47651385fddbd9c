import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { type ConfigDocument, emptyDocument, placeKey } from "./config-document.ts";
import type { Path, Position } from "./finding.ts";
import { MAX_DEPTH, tooDeep } from "./too-deep.ts";
import { plainScalar } from "./yaml-scalar.ts";

/** Aliases of aliases can make a small file huge. */
const MAX_VALUES = 20_000;

/** Reads config.yml with the place of every key and value; words mean what they mean to PyYAML. */
export function readYaml(text: string, file: string): ConfigDocument {
  const lines = new LineCounter();
  // "failsafe": every scalar stays the text it is, and is given its meaning here.
  const document = parseDocument(text, {
    version: "1.1",
    schema: "failsafe",
    uniqueKeys: false,
    lineCounter: lines,
    logLevel: "error",
  });
  const reader = new YamlReader(document, lines, file);
  const out = reader.out;
  // Whatever else it says is of what it could not read any more.
  const exhausted = document.errors.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  if (exhausted) {
    out.remarks.push(tooDeep(reader.position(exhausted.pos[0])));
    return out;
  }
  for (const error of document.errors) {
    const what = error.message.split(/\n| at line /)[0]?.replace(/[:.]$/, "") ?? "";
    const isSecond = error.code === "MULTIPLE_DOCS";
    out.remarks.push({
      code: "config_syntax",
      path: [],
      message: isSecond ? "a second document begins here" : `is not YAML here: ${what}`,
      hint: isSecond
        ? "Keep one document a file: remove the `---`."
        : "Mend the line; indent with spaces, and quote texts that hold `: ` or ` #`.",
      position: reader.position(error.pos[0]),
    });
  }
  if (document.errors.length === 0) out.value = reader.read(document.contents, []);
  return out;
}

class YamlReader {
  readonly out: ConfigDocument;
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #aliases: Node[] = [];
  #values = 0;
  #isTooDeep = false;

  constructor(document: Document, lines: LineCounter, file: string) {
    this.#document = document;
    this.#lines = lines;
    this.out = emptyDocument(file);
  }

  position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  read(node: unknown, path: Path, key?: Position): unknown {
    const range = (node as Node | null)?.range;
    const value = range ? this.position(range[0]) : (key ?? { line: 1, column: 1 });
    this.out.places.set(placeKey(path), { value, ...(key && { key }) });
    if (++this.#values > MAX_VALUES) return this.#tooMany(value);
    if (path.length > MAX_DEPTH) return this.#tooDeep(value);
    if (isAlias(node)) return this.#alias(node.resolve(this.#document), node.source, path, key, value);
    if (isMap(node)) return this.#map(node, path);
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index]));
    return isScalar(node) ? this.#scalar(node, path, value) : null;
  }

  #alias(
    target: Node | undefined,
    name: string,
    path: Path,
    key: Position | undefined,
    at: Position,
  ): unknown {
    if (target === undefined || this.#aliases.includes(target)) {
      const message = target ? `*${name} is part of what it stands for` : `there is no anchor &${name}`;
      this.#remark("config_syntax", path, message, "Write the value out.", at);
      return undefined;
    }
    this.#aliases.push(target);
    const value = this.read(target, path, key);
    this.#aliases.pop();
    return value;
  }

  #map(node: YAMLMap, path: Path): Record<string, unknown> {
    const own: [string, unknown][] = [];
    const merged: [string, unknown][] = [];
    const seen = new Map<string, Position>();
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const key = this.#key(pair.key, path);
      if (key === undefined) continue;
      if (key.name === "<<" && isPlain(pair.key)) {
        merged.push(...this.#merge(pair.value, path, key.position));
        continue;
      }
      const before = seen.get(key.name);
      if (before) this.#duplicate([...path, key.name], before, key.position);
      else seen.set(key.name, key.position);
      own.push([key.name, this.read(pair.value, [...path, key.name], key.position)]);
    }
    const missing = merged.filter(([name]) => !seen.has(name));
    return Object.fromEntries([...missing, ...own]);
  }

  #key(node: unknown, path: Path): { name: string; position: Position } | undefined {
    const range = (node as Node | null)?.range;
    const position = range ? this.position(range[0]) : { line: 1, column: 1 };
    if (isScalar(node) && typeof node.value === "string") return { name: node.value, position };
    this.#remark(
      "config_syntax",
      path,
      "a key is not a word",
      "Keys are words such as batch_size.",
      position,
    );
    return undefined;
  }

  /** `<<: *base`, or a list of them: what is there already wins. */
  #merge(node: unknown, path: Path, at: Position): [string, unknown][] {
    const target = isAlias(node) ? node.resolve(this.#document) : (node as Node | undefined);
    if (isSeq(target)) return target.items.flatMap((item) => this.#merge(item, path, at)).reverse();
    if (isMap(target) && !this.#aliases.includes(target)) {
      this.#aliases.push(target);
      const entries = Object.entries(this.#map(target, path));
      this.#aliases.pop();
      return entries;
    }
    this.#remark("config_syntax", path, "<< takes a map", "Give it an anchor such as *base.", at);
    return [];
  }

  #scalar(node: Scalar, path: Path, at: Position): unknown {
    const text = typeof node.value === "string" ? node.value : String(node.source ?? "");
    switch (node.tag) {
      case undefined:
        return isPlain(node) ? plainScalar(text) : text;
      case "!":
      case "tag:yaml.org,2002:str":
        return text;
      case "tag:yaml.org,2002:int":
      case "tag:yaml.org,2002:float":
      case "tag:yaml.org,2002:bool":
      case "tag:yaml.org,2002:null":
        return plainScalar(text);
      default:
        this.#remark("config_syntax", path, `the tag ${node.tag} is not known`, "Remove it.", at);
        return text;
    }
  }

  #duplicate(path: Path, before: Position, position: Position): void {
    const message = `is given twice; it stands in line ${before.line} already`;
    this.#remark(
      "duplicate_key",
      path,
      message,
      "Keep one of the two: other readers take the last.",
      position,
    );
  }

  #tooMany(position: Position): undefined {
    if (this.#values === MAX_VALUES + 1)
      this.#remark(
        "config_syntax",
        [],
        `holds more than ${MAX_VALUES} values`,
        "Use fewer aliases.",
        position,
      );
    return undefined;
  }

  #tooDeep(position: Position): undefined {
    if (!this.#isTooDeep) this.out.remarks.push(tooDeep(position));
    this.#isTooDeep = true;
    return undefined;
  }

  #remark(
    code: "config_syntax" | "duplicate_key",
    path: Path,
    message: string,
    hint: string,
    position: Position,
  ) {
    this.out.remarks.push({ code, path, message, hint, position });
  }
}

function isPlain(node: unknown): boolean {
  return isScalar(node) && (node.type === "PLAIN" || node.type === undefined);
}
