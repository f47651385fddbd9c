import * as z from "zod/mini";
import { projectConfig } from "./config-schema.ts";
import type { Path } from "./finding.ts";
import { nodeAt, schemaNode } from "./schema-node.ts";

/** Reads a configuration value by value: the default where nothing is written, undefined where it does not fit. */
export class ConfigView {
  readonly #raw: Record<string, unknown>;
  readonly #bad: readonly string[];

  constructor(raw: Record<string, unknown>, bad: readonly Path[]) {
    this.#raw = raw;
    this.#bad = bad.map((path) => path.join("."));
  }

  /** Whether something other than null is written there. */
  has(path: string): boolean {
    const value = this.#written(path);
    return value !== undefined && value !== null;
  }

  get(path: string): unknown {
    if (this.#bad.includes(path)) return undefined;
    const value = this.#written(path);
    if (value !== undefined) return value;
    const node = nodeAt(schemaNode(projectConfig), path.split("."));
    const result = node && z.safeParse(node as unknown as z.ZodMiniType, undefined);
    return result?.success ? result.data : undefined;
  }

  number(path: string): number | undefined {
    const value = this.get(path);
    return typeof value === "number" ? value : undefined;
  }

  /** What is written, also where it is out of its bounds. */
  written(path: string): number | undefined {
    const value = this.#written(path);
    return typeof value === "number" ? value : this.number(path);
  }

  text(path: string): string | undefined {
    const value = this.get(path);
    return typeof value === "string" ? value : undefined;
  }

  flag(path: string): boolean {
    return this.get(path) === true;
  }

  /** A text or a list of texts, with the path of each. */
  texts(path: string): { path: Path; value: string }[] {
    const value = this.get(path);
    const keys = path.split(".");
    if (typeof value === "string") return [{ path: keys, value }];
    if (!Array.isArray(value)) return [];
    return value.flatMap((each: unknown, index) =>
      typeof each === "string" ? [{ path: [...keys, index], value: each }] : [],
    );
  }

  list(path: string): unknown[] {
    const value = this.get(path);
    return Array.isArray(value) ? (value as unknown[]) : [];
  }

  #written(path: string): unknown {
    let at: unknown = this.#raw;
    for (const key of path.split(".")) {
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Record<string, unknown>)[key];
    }
    return at;
  }
}
