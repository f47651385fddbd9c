/** Named secrets. Values leave this port only through a grant. */
export interface Secrets {
  set(name: string, value: string): Promise<void>;
  list(): Promise<string[]>;
  remove(name: string): Promise<void>;
  /** Values of the granted names; a missing one is `not_found` and names it. */
  resolve(names: readonly string[]): Promise<Record<string, string>>;
  /**
   * The text with every value this process knows of replaced. Values shorter than six characters stay: they
   * would blank out ordinary words.
   */
  redact(text: string): string;
}
