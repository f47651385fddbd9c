import { SpotterError } from "../../sdk/schema/errors.ts";

export type Table<S extends string, C extends string> = Record<S, Partial<Record<C, S>>>;

/** The state a change leads to. Pairs that the table does not list throw. */
export function nextState<S extends string, C extends string>(
  what: string,
  table: Table<S, C>,
  from: S,
  change: C,
): S {
  const to = table[from][change];
  if (to === undefined) {
    throw new SpotterError("internal", `The ${what} cannot take the change "${change}" in state "${from}".`);
  }
  return to;
}

export function allowsChange<S extends string, C extends string>(
  table: Table<S, C>,
  from: S,
  change: C,
): boolean {
  return table[from][change] !== undefined;
}
