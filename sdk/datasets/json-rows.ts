import { invalidRow, isRow, placeRow, RowFaults, type Row } from "../dataset-rows.ts";
import { linesOf } from "./text-lines.ts";

/** One JSON object a line. Blank lines are skipped. */
export async function* jsonLines(text: AsyncIterable<string>, name: string): AsyncIterable<Row> {
  const faults = new RowFaults();
  let number = 0;
  for await (const line of linesOf(text)) {
    number++;
    if (line.trim() === "") continue;
    const row = parsedOr(faults, line, `${name}:${number}`);
    // Behind a bad line the rest is only looked through: nobody may take what comes for the whole.
    if (row && faults.count === 0) yield row;
  }
  faults.throwIfAny();
}

function parsedOr(faults: RowFaults, json: string, where: string): Row | undefined {
  try {
    return parseRow(json, where);
  } catch (error) {
    faults.add(error);
    return undefined;
  }
}

/** A file that is one array of objects, or one object a line: its first character tells. */
export async function* jsonArrayOrLines(text: AsyncIterable<string>, name: string): AsyncIterable<Row> {
  const iterator = text[Symbol.asyncIterator]();
  let head = "";
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) break;
    head += next.value;
    if (/\S/.test(head)) break;
  }
  const whole = chained(head, { [Symbol.asyncIterator]: () => iterator });
  if (head.trimStart().startsWith("[")) yield* jsonArray(whole, name);
  else yield* jsonLines(whole, name);
}

async function* chained(head: string, rest: AsyncIterable<string>): AsyncIterable<string> {
  yield head;
  yield* rest;
}

/** Splits the elements of the outer array apart and leaves each to JSON.parse: only one is held at a time. */
async function* jsonArray(text: AsyncIterable<string>, name: string): AsyncIterable<Row> {
  const splitter = new ElementSplitter(name);
  for await (const piece of text) yield* splitter.push(piece);
  splitter.end();
}

class ElementSplitter {
  readonly #name: string;
  #line = 1;
  /** Line where the element under way begins; undefined while only white space was seen. */
  #startLine: number | undefined;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #element: string[] = [];
  #count = 0;
  #isOver = false;

  constructor(name: string) {
    this.#name = name;
  }

  *push(piece: string): Iterable<Row> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const character = piece.charAt(at);
      if (character === "\n") this.#line++;
      if (this.#inString) this.#passString(character);
      else if (this.#isOver) this.#passRest(character);
      else if (this.#depth === 0) {
        if (character.trim() === "") continue;
        this.#depth = 1;
        from = at + 1;
      } else if (this.#depth === 1 && (character === "," || character === "]")) {
        this.#element.push(piece.slice(from, at));
        from = at + 1;
        this.#isOver = character === "]";
        const isEmptyArray = this.#isOver && this.#count === 0 && this.#startLine === undefined;
        if (!isEmptyArray) yield this.#row();
      } else this.#passValue(character);
    }
    if (this.#depth > 0 && !this.#isOver) this.#element.push(piece.slice(from));
  }

  end(): void {
    if (!this.#isOver) throw invalidRow(`${this.#name}:${this.#line}`, "the array does not end");
  }

  #row(): Row {
    const where = `${this.#name}:${this.#startLine ?? this.#line}`;
    const json = this.#element.join("");
    this.#element = [];
    this.#startLine = undefined;
    this.#count++;
    return parseRow(json, where);
  }

  #passValue(character: string): void {
    if (character.trim() !== "") this.#startLine ??= this.#line;
    if (character === '"') this.#inString = true;
    else if (character === "{" || character === "[") this.#depth++;
    // A bracket too many stays in the element, where JSON.parse refuses it.
    else if ((character === "}" || character === "]") && this.#depth > 1) this.#depth--;
  }

  #passString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === "\\") this.#isEscaped = true;
    else if (character === '"') this.#inString = false;
  }

  #passRest(character: string): void {
    if (character.trim() === "") return;
    throw invalidRow(`${this.#name}:${this.#line}`, "there is text after the array");
  }
}

function parseRow(json: string, where: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw invalidRow(
      where,
      `not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  }
  if (!isRow(value)) throw invalidRow(where, "a row must be a JSON object with named columns");
  return placeRow(value, where);
}
