import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CHUNK_BYTES, type LinePass } from "./line-scan.ts";
import { isMindedKey } from "./row-checks.ts";
import type { RowContext } from "./row-context.ts";

interface Word {
  readonly value: number;
}

/** What plain-rows/scan.ts exports. */
interface Scan {
  memory: { buffer: ArrayBuffer };
  CHUNK: Word;
  lines: Word;
  rows: Word;
  answered: Word;
  keyFrom: Word;
  keyTo: Word;
  setKind(required: number, isSft: boolean, isMidtrain: boolean, isMath: boolean): void;
  addName(table: number, from: number, length: number, mask: number): number;
  scan(at: number, end: number, most: number): number;
}

const EXPORTS: readonly (keyof Scan)[] = [
  ...(["memory", "CHUNK", "lines", "rows", "answered", "keyFrom", "keyTo"] as const),
  ...(["setKind", "addName", "scan"] as const),
];

/** As in plain-rows/row.ts and plain-rows/names.ts. */
const HAS = { messages: 1, rewards: 2, tools: 4, text: 8 };
const TABLES = { rewards: 0, tools: 1, needed: 2, others: 3 };
/** A token of row_long. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Passes over rows of train.jsonl that are plainly fine, by their bytes: the checks of such a row would find nothing,
 * and it has no images, containers or calls of tools. Most rows are like that, and take a tenth of the time.
 */
export class PlainRows implements LinePass {
  readonly chunk: Buffer;
  rows = 0;
  /** Of dataset_type sft: the assistant's messages, each of which is learnt. */
  answers = 0;
  readonly #scan: Scan;
  readonly #base: number;
  readonly #most: number;
  readonly #isSft: boolean;

  constructor(scan: Scan, context: RowContext) {
    this.#scan = scan;
    this.#base = scan.CHUNK.value;
    this.chunk = Buffer.from(scan.memory.buffer, this.#base, CHUNK_BYTES);
    const { kind, window } = context;
    const isMidtrain = kind === "midtrain";
    // A text never has more characters than bytes.
    this.#most = isMidtrain ? CHUNK_BYTES : Math.max(0, CHARACTERS_PER_TOKEN * Math.floor(window));
    this.#isSft = kind === "sft";
    scan.setKind(requiredKeys(context), this.#isSft, isMidtrain, context.isMath && kind === "rl");
    this.#addRewards(context);
    for (const [name, { sandbox }] of context.tools ?? []) if (!sandbox) this.#add(TABLES.tools, name);
  }

  pass(start: number, end: number): { lines: number; start: number } {
    let at = this.#base + start;
    let lines = 0;
    do {
      at = this.#scan.scan(at, this.#base + end, this.#most);
      lines += this.#scan.lines.value;
      this.rows += this.#scan.rows.value;
      if (this.#isSft) this.answers += this.#scan.answered.value;
    } while (at < this.#base + end && this.#learnKey());
    return { lines, start: at - this.#base };
  }

  #addRewards({ kind, rewards }: RowContext): void {
    const masks = new Map<string, number>();
    for (const [name, { sandbox, needs = [] }] of rewards ?? []) {
      if (kind !== "rl") {
        this.#add(TABLES.rewards, name);
        continue;
      }
      for (const key of needs) {
        const mask = 2 ** masks.size;
        if (!masks.has(key) && this.#add(TABLES.needed, key, mask)) masks.set(key, mask);
      }
      if (!sandbox && needs.every((key) => masks.has(key)))
        this.#add(
          TABLES.rewards,
          name,
          needs.reduce((mask, key) => mask | (masks.get(key) ?? 0), 0),
        );
    }
  }

  /** A name that JSON can write in more ways than one is left out: its rows are checked the long way. */
  #add(table: number, name: string, mask = 0): boolean {
    if (JSON.stringify(name) !== `"${name}"`) return false;
    const text = Buffer.from(`${name}"`);
    if (text.length > this.chunk.length) return false;
    text.copy(this.chunk);
    return this.#scan.addName(table, this.#base, text.length, mask) !== 0;
  }

  /** The row that stopped it may have done so for a key that nothing reads. */
  #learnKey(): boolean {
    const from = this.#scan.keyFrom.value;
    const to = this.#scan.keyTo.value;
    if (from === 0) return false;
    const key = this.chunk.toString("utf8", from - this.#base, to - this.#base - 1);
    return !isMindedKey(key) && this.#scan.addName(TABLES.others, from, to - from, 0) !== 0;
  }
}

function requiredKeys({ kind, tools }: RowContext): number {
  if (kind === "midtrain") return HAS.text;
  const isSampled = kind === "rl" || kind === "distill";
  // Without the key a row has all tools, also those that need a container.
  const needsTools = isSampled && [...(tools?.values() ?? [])].some(({ sandbox }) => sandbox);
  return HAS.messages | (kind === "rl" ? HAS.rewards : 0) | (needsTools ? HAS.tools : 0);
}

/** Nothing where no row is plain, and where there is no program for it: then each row is checked by itself. */
export function plainRows(context: RowContext): PlainRows | undefined {
  program ??= programOf(builtProgram());
  if (program === "none" || context.isMcpInSandbox) return undefined;
  const { exports } = new WebAssembly.Instance(program);
  return new PlainRows(exports as Scan, context);
}

let program: WebAssembly.Module | "none" | undefined;

/** None of bytes that are no such program, on processors that cannot compute with vectors, and in a Node without WebAssembly. */
export function programOf(bytes: Uint8Array | undefined): WebAssembly.Module | "none" {
  // Node has none with --jitless.
  if (bytes === undefined || typeof WebAssembly === "undefined" || !WebAssembly.validate(bytes))
    return "none";
  const module = new WebAssembly.Module(bytes);
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const isWhole = EXPORTS.every((name) => exported.has(name));
  return isWhole && WebAssembly.Module.imports(module).length === 0 ? module : "none";
}

/** Nothing where sources run that were never built, and where it cannot be read. */
function builtProgram(): Uint8Array | undefined {
  const folder = import.meta.url.endsWith(".ts") ? "../../../dist/sdk/config/project-folder/" : "./";
  try {
    return readFileSync(fileURLToPath(new URL(`${folder}plain-rows.wasm`, import.meta.url)));
  } catch {
    return undefined;
  }
}
