import type { IsolateBundle, IsolateResult, Isolates } from "../../functions/ports/isolates.ts";
import type { UserCodeExport } from "../../sdk/schema/user-code.ts";

/** Isolates in which one reward judges each row by a function of the test. */
export function fakeIsolates(
  judge: (row: unknown) => IsolateResult = () => ({ value: 1 }),
  exports: UserCodeExport[] = [{ name: "score", kind: "reward" }],
): Isolates & { readonly loaded: IsolateBundle[] } {
  const loaded: IsolateBundle[] = [];
  return {
    loaded,
    async load(bundle) {
      loaded.push(bundle);
      return {
        exports,
        call: async (_name, rows) => rows.map(judge),
        callAll: async (names, rows) => names.map(() => rows.map(judge)),
      };
    },
    close: async () => {},
  };
}
