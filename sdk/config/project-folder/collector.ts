import type { Finding, FindingCode } from "./finding.ts";

/** Of one kind in one file; the rest is counted. A bad file of a gigabyte must not fill the memory with findings. */
export const MAX_OF_A_KIND = 200;

/** Keeps findings, of each kind the first ones; the others become one finding that counts them. */
export class Collector {
  readonly #kept: Finding[] = [];
  readonly #counts = new Map<string, number>();

  /** Whether another one of this kind would be kept: places need not be sought for those that are not. */
  isOpen(code: FindingCode, severity: "error" | "warning"): boolean {
    return (this.#counts.get(`${severity} ${code}`) ?? 0) < MAX_OF_A_KIND;
  }

  add(finding: Finding): void {
    if (this.count(finding.code, finding.severity) <= MAX_OF_A_KIND) this.#kept.push(finding);
  }

  /** Counts one without keeping it. */
  count(code: FindingCode, severity: "error" | "warning"): number {
    const kind = `${severity} ${code}`;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count;
  }

  findings(): Finding[] {
    const rest = [...this.#counts].flatMap(([kind, count]): Finding[] => {
      const example = this.#kept.find(({ code, severity }) => `${severity} ${code}` === kind);
      if (!example || count <= MAX_OF_A_KIND) return [];
      const more = count - MAX_OF_A_KIND;
      const message = `${more} more finding${more === 1 ? "" : "s"} of this kind`;
      return [{ ...example, line: null, column: null, path: "", message }];
    });
    return [...this.#kept, ...rest];
  }
}

/** Of each kind in each file the first findings, and how many more there are. */
export function firstOfEachKind(findings: readonly Finding[]): Finding[] {
  const files = new Map<string, Collector>();
  for (const finding of findings) {
    const collector = files.get(finding.file) ?? new Collector();
    files.set(finding.file, collector);
    collector.add(finding);
  }
  return [...files.values()].flatMap((collector) => collector.findings());
}
