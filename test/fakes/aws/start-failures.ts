/** Containers that will not start: images that cannot be pulled, secrets that cannot be read. */
export class StartFailures {
  #rules: { reason: string; name: string | undefined; left: number }[] = [];

  /** `name`: only for a task with this `startedBy` or family, or a job with this name. */
  add(reason: string, { name, count = 1 }: { name?: string; count?: number } = {}): void {
    this.#rules.push({ reason, name, left: count });
  }

  take(...names: (string | undefined)[]): string | undefined {
    const rule = this.#rules.find(
      ({ name, left }) => left > 0 && (name === undefined || names.includes(name)),
    );
    if (rule === undefined) return undefined;
    rule.left -= 1;
    return rule.reason;
  }
}
