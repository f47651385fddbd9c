import type { Grammar, GrammarNode } from "./grammar.ts";

/** A node of a grammar; equal ones of one {@link Compiler} are one object. */
export type CompiledNode = { id: number } & (
  | { kind: "byte"; ranges: readonly (readonly [number, number])[] }
  | { kind: "empty" }
  | { kind: "pair"; head: CompiledNode; tail: CompiledNode }
  | { kind: "oneOf"; items: readonly CompiledNode[] }
  | { kind: "many"; item: CompiledNode; atLeast: number; atMost: number }
  | { kind: "rule"; name: string }
);

type Shape = CompiledNode extends infer N ? (N extends { id: number } ? Omit<N, "id"> : never) : never;

/**
 * Makes equal parts of a grammar one, and what alternatives begin with in common too: what a text is followed
 * through are the places where they differ.
 */
export class Compiler {
  readonly root: CompiledNode;
  readonly #source: Grammar["rules"];
  readonly #rules = new Map<string, CompiledNode>();
  readonly #open = new Set<string>();
  readonly #known = new Map<string, CompiledNode>();

  constructor(grammar: Grammar) {
    this.#source = grammar.rules;
    for (const name of Object.keys(grammar.rules)) this.rule(name);
    this.root = this.#compile(grammar.root);
  }

  /** What a rule stands for; undefined where there is none of the name. */
  rule(name: string): CompiledNode | undefined {
    const known = this.#rules.get(name);
    const source = this.#source[name];
    if (known !== undefined || source === undefined) return known;
    this.#open.add(name);
    const node = this.#compile(source);
    this.#open.delete(name);
    this.#rules.set(name, node);
    return node;
  }

  /** One more `item` was read of a repetition. */
  fewer({ item, atLeast, atMost }: CompiledNode & { kind: "many" }): CompiledNode {
    return this.#many(item, Math.max(atLeast - 1, 0), atMost - 1);
  }

  #compile(node: GrammarNode): CompiledNode {
    if ("bytes" in node) return this.#bytes(node.bytes);
    if ("text" in node || "all" in node) return this.#all(flat(node));
    if ("oneOf" in node) return this.#oneOf(options(node).map((item) => this.#compile(item)));
    if ("many" in node)
      return this.#many(this.#compile(node.many), node.atLeast ?? 0, node.atMost ?? Infinity);
    // One that is under way holds itself.
    const rule = this.#open.has(node.rule) ? undefined : this.rule(node.rule);
    return rule ?? this.#node({ kind: "rule", name: node.rule }, `rule ${node.rule}`);
  }

  #bytes(ranges: readonly (readonly [number, number])[]): CompiledNode {
    return this.#node({ kind: "byte", ranges }, `byte ${ranges.join(" ")}`);
  }

  #all(parts: readonly (GrammarNode | number)[]): CompiledNode {
    return parts.reduceRight<CompiledNode>(
      (tail, part) =>
        this.#pair(typeof part === "number" ? this.#bytes([[part, part]]) : this.#compile(part), tail),
      this.#empty(),
    );
  }

  #empty(): CompiledNode {
    return this.#node({ kind: "empty" }, "empty");
  }

  #pair(head: CompiledNode, tail: CompiledNode): CompiledNode {
    if (head.kind === "empty") return tail;
    return tail.kind === "empty"
      ? head
      : this.#node({ kind: "pair", head, tail }, `pair ${head.id} ${tail.id}`);
  }

  #many(item: CompiledNode, atLeast: number, atMost: number): CompiledNode {
    if (atMost <= 0) return this.#empty();
    return this.#node({ kind: "many", item, atLeast, atMost }, `many ${item.id} ${atLeast} ${atMost}`);
  }

  #oneOf(alternatives: readonly CompiledNode[]): CompiledNode {
    const byHead = Map.groupBy(new Set(alternatives), headOf);
    const items = [...byHead.values()].map((group) => this.#factored(group));
    const [only] = items;
    if (only !== undefined && items.length === 1) return only;
    return this.#node({ kind: "oneOf", items }, `oneOf ${items.map(({ id }) => id).join(" ")}`);
  }

  /** Alternatives that begin alike: ab or ac are a, then b or c. */
  #factored(group: readonly CompiledNode[]): CompiledNode {
    const shared: CompiledNode[] = [];
    let rest = group;
    let [first] = rest;
    while (first !== undefined && rest.length > 1) {
      const head = headOf(first);
      if (head.kind === "empty" || !rest.every((each) => headOf(each) === head)) break;
      shared.push(head);
      rest = [...new Set(rest.map((each) => (each.kind === "pair" ? each.tail : this.#empty())))];
      [first] = rest;
    }
    const end = rest.length === 1 && first !== undefined ? first : this.#oneOf(rest);
    return shared.reduceRight((tail, head) => this.#pair(head, tail), end);
  }

  #node(shape: Shape, key: string): CompiledNode {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const node = { ...shape, id: this.#known.size + 1 };
    this.#known.set(key, node);
    return node;
  }
}

function headOf(node: CompiledNode): CompiledNode {
  return node.kind === "pair" ? node.head : node;
}

/** The parts of a sequence that is written out, with a number for each byte of a text. */
function flat(node: GrammarNode): (GrammarNode | number)[] {
  if ("text" in node) return [...new TextEncoder().encode(node.text)];
  return "all" in node ? node.all.flatMap(flat) : [node];
}

/** The alternatives that are written out, with those of alternatives. */
function options(node: GrammarNode): GrammarNode[] {
  return "oneOf" in node ? node.oneOf.flatMap(options) : [node];
}
