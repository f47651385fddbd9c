import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { Compiler, type CompiledNode } from "./compile.ts";
import type { Grammar } from "./grammar.ts";

/** What a step can still do: bytes to read, in order; `rest` is absent at the end of the text. */
interface Cell {
  id: number;
  node: CompiledNode;
  rest: Cell | undefined;
  /** How many cells there are from here to the end. */
  depth: number;
}

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
/** How many more there may be in the places that are remembered, which share them. */
const HELD_PER_CELL = 5;

/** How many cells are compared with a byte in the time that one is opened. */
const GLANCES = 16;

/**
 * Follows texts of a grammar byte by byte: a pushdown automaton over all derivations at once (as the grammars
 * of llama.cpp are followed), whose stacks are shared and whose steps are remembered.
 */
export class Acceptor {
  readonly start: AcceptorState;
  /**
   * How many cells may still be looked at, some 1,000 a millisecond: a grammar may leave open very many ways
   * to go on, and whoever waits sets this before each step. Default: no end.
   */
  allowance = Infinity;
  readonly #compiler: Compiler;
  readonly #states = new Map<string, State>();
  readonly #cells = new Map<string, Cell>();
  readonly #mostCells: number;
  #held = 0;
  #ids = 0;

  /** `mostCells`: memory for what was seen; beyond it all is worked out anew. Default: 200,000. */
  constructor(grammar: Grammar, mostCells = MOST_CELLS) {
    this.#mostCells = mostCells;
    this.#compiler = new Compiler(grammar);
    this.start = this.#stateOf([this.#cell(this.#compiler.root, undefined)]);
  }

  /**
   * The place after one more byte; undefined where no text of the grammar goes on so.
   *
   * @throws SpotterError `grammar_too_complex` when the allowance is used up; so does {@link within}.
   */
  next(at: AcceptorState, byte: number): AcceptorState | undefined {
    const state = at as State;
    const known = state.next[byte];
    if (known !== undefined) return known ?? undefined;
    this.#spend(state.cells.length / GLANCES);
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
    const common = this.#commonEnd(cells.map(({ rest }) => rest));
    if (common === undefined) return at;
    return this.#stateOf(cells.map((cell) => this.#without(cell, common)));
  }

  #without(cell: Cell, end: Cell): Cell {
    const nodes: CompiledNode[] = [];
    for (let at: Cell | undefined = cell; at !== undefined && at !== end; at = at.rest) nodes.push(at.node);
    this.#spend(nodes.length);
    const [first = cell.node, ...others] = nodes;
    return this.#cell(
      first,
      others.reduceRight<Cell | undefined>((rest, node) => this.#cell(node, rest), undefined),
    );
  }

  /** The longest end that all stacks have; undefined where there is none. */
  #commonEnd(stacks: readonly (Cell | undefined)[]): Cell | undefined {
    let common = stacks[0];
    for (const stack of new Set(stacks)) {
      let other = stack;
      while (common !== other) {
        if (common === undefined || other === undefined) return undefined;
        this.#spend(1);
        const [depth, otherDepth]: [number, number] = [common.depth, other.depth];
        if (depth >= otherDepth) common = common.rest;
        if (depth <= otherDepth) other = other.rest;
      }
    }
    return common;
  }

  #spend(cells: number): void {
    this.allowance -= cells;
    if (this.allowance < 0) throw tooComplex();
  }

  /** Everything these stacks can do next, with choices made and rules opened. */
  #stateOf(stacks: readonly (Cell | undefined)[]): State {
    if (this.#cells.size > this.#mostCells || this.#held > this.#mostCells * HELD_PER_CELL) {
      this.#cells.clear();
      this.#states.clear();
      this.#held = 0;
    }
    const heads = new Set<Cell>();
    const seen = new Set<Cell | undefined>();
    const open = [...stacks];
    while (open.length > 0) {
      const cell = open.pop();
      if (seen.has(cell)) continue;
      seen.add(cell);
      this.#spend(1);
      if (cell === undefined) continue;
      if (cell.node.kind === "byte") heads.add(cell);
      else for (const next of this.#opened(cell)) open.push(next);
    }
    const accepts = seen.has(undefined);
    const cells = [...heads].sort((a, b) => a.id - b.id);
    const key = `${accepts ? "!" : ""}${cells.map(({ id }) => id).join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = new State(cells, accepts);
    this.#states.set(key, state);
    this.#held += cells.length;
    return state;
  }

  #opened({ node, rest }: Cell): (Cell | undefined)[] {
    switch (node.kind) {
      case "byte":
        return [];
      case "empty":
        return [rest];
      case "pair":
        return [this.#cell(node.head, this.#cell(node.tail, rest))];
      case "oneOf":
        return node.items.map((item) => this.#cell(item, rest));
      case "many": {
        const again = this.#cell(node.item, this.#cell(this.#compiler.fewer(node), rest));
        return node.atLeast > 0 ? [again] : [rest, again];
      }
      case "rule": {
        const rule = this.#compiler.rule(node.name);
        return rule === undefined ? [] : [this.#cell(rule, rest)];
      }
    }
  }

  #cell(node: CompiledNode, rest: Cell | undefined): Cell {
    const key = `${node.id}:${rest?.id ?? ""}`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const cell = { id: ++this.#ids, node, rest, depth: (rest?.depth ?? 0) + 1 };
    this.#cells.set(key, cell);
    return cell;
  }
}

function tooComplex(): SpotterError {
  return new SpotterError(
    "grammar_too_complex",
    "What the answer must be leaves too many ways to go on at once: working out the next token takes too long.",
    {
      hint: "Ask for fewer alternatives that begin alike, such as texts of different lengths in an 'anyOf'.",
    },
  );
}

function reads(ranges: readonly (readonly [number, number])[], byte: number): boolean {
  return ranges.some(([low, high]) => byte >= low && byte <= high);
}
