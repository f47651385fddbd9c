import type { Grammar, GrammarNode } from "./grammar.ts";

/** What a step can still do: bytes to read, in order; `rest` is absent at the end of the text. */
interface Cell {
  id: number;
  node: CompiledNode;
  rest: Cell | undefined;
}

type CompiledNode = { id: number } & (
  | { kind: "byte"; ranges: readonly (readonly [number, number])[] }
  | { kind: "all"; items: readonly CompiledNode[] }
  | { kind: "oneOf"; items: readonly CompiledNode[] }
  | { kind: "many"; item: CompiledNode; fewer: CompiledNode | undefined }
  | { kind: "rule"; name: string }
);

/** A place in a text. Equal places of one acceptor are one object for as long as it remembers them. */
export interface AcceptorState {
  /** The text may end here. */
  readonly accepts: boolean;
  /** The text must end here. */
  readonly complete: boolean;
}

class State implements AcceptorState {
  readonly accepts: boolean;
  readonly cells: readonly Cell[];
  /** By byte: undefined is not known yet, null is a byte that cannot come. */
  readonly next: (State | null | undefined)[] = [];

  constructor(cells: readonly Cell[], accepts: boolean) {
    this.cells = cells;
    this.accepts = accepts;
  }

  get complete(): boolean {
    return this.accepts && this.cells.length === 0;
  }
}

/** Some 30 MB. */
const MOST_CELLS = 200_000;

/**
 * Follows texts of a grammar byte by byte: a pushdown automaton over all derivations at once (as the grammars
 * of llama.cpp are followed), whose stacks are shared and whose steps are remembered.
 */
export class Acceptor {
  readonly start: AcceptorState;
  readonly #rules: ReadonlyMap<string, CompiledNode>;
  readonly #states = new Map<string, State>();
  readonly #cells = new Map<string, Cell>();
  readonly #mostCells: number;
  #ids = 0;

  /** `mostCells`: memory for what was seen; beyond it all is worked out anew. Default: 200,000. */
  constructor(grammar: Grammar, mostCells = MOST_CELLS) {
    this.#mostCells = mostCells;
    this.#rules = new Map(Object.entries(grammar.rules).map(([name, node]) => [name, this.#compile(node)]));
    this.start = this.#stateOf([this.#cell(this.#compile(grammar.root), undefined)]);
  }

  /** The place after one more byte; undefined where no text of the grammar goes on so. */
  next(at: AcceptorState, byte: number): AcceptorState | undefined {
    const state = at as State;
    const known = state.next[byte];
    if (known !== undefined) return known ?? undefined;
    const after = state.cells.filter(({ node }) => node.kind === "byte" && reads(node.ranges, byte));
    const next = after.length === 0 ? null : this.#stateOf(after.map(({ rest }) => rest));
    state.next[byte] = next;
    return next ?? undefined;
  }

  /**
   * The place without what all that can come next has in common at its end: what is left is the same in many
   * places, such as within any string. Where it accepts, the text goes on with what was left out.
   */
  within(at: AcceptorState): AcceptorState {
    const { cells } = at as State;
    const common = commonEnd(cells.map(({ rest }) => rest));
    if (common === undefined) return at;
    return this.#stateOf(cells.map((cell) => this.#without(cell, common)));
  }

  #without(cell: Cell | undefined, end: Cell): Cell | undefined {
    if (cell === undefined || cell === end) return undefined;
    return this.#cell(cell.node, this.#without(cell.rest, end));
  }

  /** Everything these stacks can do next, with choices made and rules opened. */
  #stateOf(stacks: readonly (Cell | undefined)[]): State {
    if (this.#cells.size > this.#mostCells) {
      this.#cells.clear();
      this.#states.clear();
    }
    const heads = new Set<Cell>();
    const seen = new Set<Cell | undefined>();
    const open = [...stacks];
    while (open.length > 0) {
      const cell = open.pop();
      if (seen.has(cell)) continue;
      seen.add(cell);
      if (cell === undefined) continue;
      if (cell.node.kind === "byte") heads.add(cell);
      else open.push(...this.#opened(cell));
    }
    const accepts = seen.has(undefined);
    const cells = [...heads].sort((a, b) => a.id - b.id);
    const key = `${accepts ? "!" : ""}${cells.map(({ id }) => id).join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = new State(cells, accepts);
    this.#states.set(key, state);
    return state;
  }

  #opened({ node, rest }: Cell): (Cell | undefined)[] {
    switch (node.kind) {
      case "byte":
        return [];
      case "all":
        return [node.items.reduceRight<Cell | undefined>((tail, item) => this.#cell(item, tail), rest)];
      case "oneOf":
        return node.items.map((item) => this.#cell(item, rest));
      case "many": {
        const again = node.fewer === undefined ? rest : this.#cell(node.fewer, rest);
        return [rest, this.#cell(node.item, again)];
      }
      case "rule": {
        const rule = this.#rules.get(node.name);
        return rule === undefined ? [] : [this.#cell(rule, rest)];
      }
    }
  }

  #cell(node: CompiledNode, rest: Cell | undefined): Cell {
    const key = `${node.id}:${rest?.id ?? ""}`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const cell = { id: ++this.#ids, node, rest };
    this.#cells.set(key, cell);
    return cell;
  }

  #compile(node: GrammarNode): CompiledNode {
    const id = ++this.#ids;
    if ("bytes" in node) return { id, kind: "byte", ranges: node.bytes };
    if ("text" in node) {
      const items = [...new TextEncoder().encode(node.text)].map((byte) =>
        this.#compile({ bytes: [[byte, byte]] }),
      );
      return { id, kind: "all", items };
    }
    if ("all" in node) return { id, kind: "all", items: node.all.map((item) => this.#compile(item)) };
    if ("oneOf" in node) return { id, kind: "oneOf", items: node.oneOf.map((item) => this.#compile(item)) };
    if ("rule" in node) return { id, kind: "rule", name: node.rule };
    return this.#compileMany(id, this.#compile(node.many), node.atMost);
  }

  #compileMany(id: number, item: CompiledNode, atMost: number | undefined): CompiledNode {
    if (atMost === undefined) {
      const many: CompiledNode & { kind: "many" } = { id, kind: "many", item, fewer: undefined };
      many.fewer = many;
      return many;
    }
    let fewer: CompiledNode | undefined;
    for (let count = 1; count <= atMost; count++) fewer = { id: ++this.#ids, kind: "many", item, fewer };
    return fewer ?? { id, kind: "all", items: [] };
  }
}

/** The longest end that all stacks have; undefined where there is none. */
function commonEnd(stacks: readonly (Cell | undefined)[]): Cell | undefined {
  const [first, ...others] = stacks;
  const ends = others.map((stack) => new Set(cellsOf(stack)));
  return cellsOf(first).find((cell) => ends.every((end) => end.has(cell)));
}

function cellsOf(stack: Cell | undefined): Cell[] {
  const cells: Cell[] = [];
  for (let cell = stack; cell !== undefined; cell = cell.rest) cells.push(cell);
  return cells;
}

function reads(ranges: readonly (readonly [number, number])[], byte: number): boolean {
  return ranges.some(([low, high]) => byte >= low && byte <= high);
}
