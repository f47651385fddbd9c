import type { Recorded } from "./record-stack.ts";

/** What must be there before what, in a recorded stack; destroyed in the opposite order. */
export class Graph {
  readonly #resources: readonly Recorded[];
  readonly #byUrn: ReadonlyMap<string, Recorded>;
  readonly #needed = new Map<string, Set<string>>();

  constructor(resources: readonly Recorded[]) {
    this.#resources = resources;
    this.#byUrn = new Map(resources.map((each) => [each.urn, each]));
  }

  all(type: string): Recorded[] {
    return this.#resources.filter((each) => each.type === type);
  }

  /** Whether `first` is gone before `then` begins to go: it needs it, or needs what needs it. */
  goesBefore(first: Recorded, then: Recorded): boolean {
    return this.#neededBy(first.urn).has(then.urn);
  }

  /** URNs of all that has to be there before this, itself apart. */
  #neededBy(urn: string): Set<string> {
    const known = this.#needed.get(urn);
    if (known !== undefined) return known;
    const needed = new Set<string>();
    this.#needed.set(urn, needed);
    for (const each of this.#byUrn.get(urn)?.dependencies ?? []) {
      needed.add(each);
      for (const further of this.#neededBy(each)) needed.add(further);
    }
    return needed;
  }
}
