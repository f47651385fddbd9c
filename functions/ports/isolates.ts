import type { UserCodeExport } from "../../sdk/schema/user-code.ts";

/** User code, bundled to one ES module whose default export is the adapter made by the bundler. */
export interface IsolateBundle {
  sha256: string;
  code: Uint8Array;
  /** Granted secrets by name. */
  secrets: Record<string, string>;
  /** Hosts it may reach; empty: none. */
  allowHosts?: string[];
}

export type IsolateResult =
  | { value: unknown }
  /** `where`: the user's own file:line:column, where there is one; the message ends with it too. */
  | { error: { code: string; message: string; where?: string } };

export interface IsolateHandle {
  /** What the module exports, as its adapter tells. */
  readonly exports: UserCodeExport[];
  /** Names it exports that are no reward, tool or environment. */
  readonly others?: string[];
  /** Rows that fit one turn when several judges share it; absent: 64. */
  readonly rowsPerTurn?: number;
  /**
   * Calls one export for each row. The isolate is killed and started again when a row does not come back
   * in time or takes the isolate down; the other rows are run again and survive. After eight such rows the
   * rest of the call is given up, with the same code.
   */
  call(
    exportName: string,
    rows: unknown[],
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<IsolateResult[]>;
  /** The same for several exports at once, which costs less than a call each. Results by export, then by row. */
  callAll(
    exportNames: string[],
    rows: unknown[],
    options: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<IsolateResult[][]>;
}

export interface Isolates {
  /** The same bundle gives the same handle. Code that does not load is `user_code_invalid`. */
  load(bundle: IsolateBundle): Promise<IsolateHandle>;
  close(): Promise<void>;
  /** Isolates alive now; absent where the home cannot tell. */
  readonly running?: number;
}
