import { ParseError, parseTOML, type AST } from "toml-eslint-parser";
import {
  checkKey,
  FileFault,
  originsBelow,
  type FileReader,
  type FileTree,
  type Place,
} from "./files-fault.ts";
import type { Origins } from "./provenance.ts";
import { isTable } from "./walk.ts";

/** Reads TOML 1.0. Dates are refused: no setting holds one. */
export const readToml: FileReader = (text, file) => {
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(text, { tomlVersion: "1.0" });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new FileFault(
      `${file} is not TOML: ${error.message.replace(/\.$/, "")}.`,
      "Texts need quotes, switches are true or false; https://toml.io says the rest.",
      { line: error.lineNumber, column: error.column + 1 },
    );
  }
  return new TomlTree(file).read(program.body[0]);
};

type Container = Record<string, unknown> | unknown[];

class TomlTree {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  read(top: AST.TOMLTopLevelTable): FileTree {
    const root = { value: {}, origins: {} };
    for (const entry of top.body) {
      if (entry.type === "TOMLKeyValue") this.#entry(entry, root.value, root.origins);
      else this.#table(entry, root.value, root.origins);
    }
    return root;
  }

  /** `[a.b]` and `[[a.b]]`; the parser has counted the places in lists. */
  #table(table: AST.TOMLTable, root: Record<string, unknown>, origins: Origins): void {
    let value: Container = root;
    let node = origins;
    for (const [index, step] of table.resolvedKey.entries()) {
      const isList = typeof table.resolvedKey[index + 1] === "number";
      node = this.#below(node, step, table.key);
      value = childOf(value, step, isList);
    }
    if (isTable(value)) for (const entry of table.body) this.#entry(entry, value, node);
  }

  /** `a.b = 1`, in a table or inline. */
  #entry(entry: AST.TOMLKeyValue, table: Record<string, unknown>, origins: Origins): void {
    const keys = entry.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
    let value: Container = table;
    let node = origins;
    for (const [index, key] of keys.entries()) {
      node = this.#below(node, key, entry.key);
      if (index < keys.length - 1) value = childOf(value, key, false);
    }
    const last = keys.at(-1);
    if (last !== undefined && isTable(value)) value[last] = this.#content(entry.value, node);
  }

  #content(content: AST.TOMLContentNode, node: Origins): unknown {
    if (content.type === "TOMLArray") {
      return content.elements.map((element, index) =>
        this.#content(element, this.#below(node, index, element)),
      );
    }
    if (content.type === "TOMLValue") return plainValue(content);
    const table = {};
    for (const entry of content.body) this.#entry(entry, table, node);
    return table;
  }

  #below(origins: Origins, step: string | number, at: AST.TOMLNode): Origins {
    if (typeof step === "string") checkKey(step, placeOf(at));
    return origins.below?.get(step) ?? originsBelow(origins, step, this.#file, placeOf(at));
  }
}

/** What is under `step`; made where it is not there yet. */
function childOf(parent: Container, step: string | number, isList: boolean): Container {
  const holder = parent as Record<string | number, Container>;
  // `[constructor]` is a table like any other, not what every object inherits.
  const held = Object.hasOwn(holder, step) ? holder[step] : undefined;
  return held ?? (holder[step] = isList ? [] : {});
}

function plainValue(value: AST.TOMLValue): unknown {
  switch (value.kind) {
    case "string":
    case "boolean":
      return value.value;
    case "integer":
      if (Number.isSafeInteger(value.value)) return value.value;
      throw new FileFault(`${value.number} is too large.`, "Whole numbers go to 2^53.", placeOf(value));
    case "float":
      if (Number.isFinite(value.value)) return value.value;
      throw new FileFault(`${value.number} is not finite.`, "Leave the setting out.", placeOf(value));
    default:
      throw new FileFault(`${value.datetime} is a date; no setting is.`, "Quote it.", placeOf(value));
  }
}

function placeOf(node: AST.TOMLNode): Place {
  return { line: node.loc.start.line, column: node.loc.start.column + 1 };
}
