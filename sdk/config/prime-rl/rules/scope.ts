import { pathText } from "../provenance.ts";
import type { Draft, Path } from "../types.ts";

/**
 * A section of a validated tree, for rules that do not care where it stands: the model of a trainer and the model of
 * `sft` are checked by the same code. `value` is live: what `derive` changes shows at once.
 */
export class Scope<T extends object = Record<string, unknown>> {
  readonly draft: Draft;
  readonly base: Path;

  constructor(draft: Draft, base: Path = []) {
    this.draft = draft;
    this.base = base;
  }

  get value(): T {
    return this.draft.get(this.base) as T;
  }

  /** The same for a section in this one. */
  within<S extends object>(...path: Path): Scope<S> {
    return new Scope<S>(this.draft, [...this.base, ...path]);
  }

  /** Whether a file, a flag or a shared field said it, rather than a default or a rule. */
  isGiven(...path: Path): boolean {
    const kind = this.draft.originOf([...this.base, ...path])?.kind;
    return kind === "file" || kind === "flag" || kind === "shared";
  }

  /** Sets a value that follows from others; `from` says from what. Setting what is there already does nothing. */
  derive(path: Path, value: unknown, from: string): void {
    const full = [...this.base, ...path];
    if (isSame(this.draft.get(full), value)) return;
    this.draft.set(full, value, { kind: "derived", from });
  }

  error(path: Path, message: string, hint: string): void {
    this.draft.report({ path: [...this.base, ...path], message, hint });
  }

  warn(path: Path, message: string, hint: string): void {
    this.draft.report({ path: [...this.base, ...path], severity: "warning", message, hint });
  }

  /** The full name of a field of this section: `trainer.model.attn`. */
  name(...path: Path): string {
    return pathText([...this.base, ...path]);
  }
}

/** Equal as JSON has it; the order of keys does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [Object.entries(one), Object.entries(other)];
  const rest = new Map(b);
  return a.length === b.length && a.every(([key, value]) => rest.has(key) && isSame(value, rest.get(key)));
}
