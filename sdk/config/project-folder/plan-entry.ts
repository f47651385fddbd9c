/** A value of the plan, and whence it comes. */
export interface Entry {
  path: string;
  value: unknown;
  source: string;
}
