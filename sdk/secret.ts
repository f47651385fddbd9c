import * as z from "zod/mini";
import { type CallOptions, clientOf } from "./client.ts";

/** Named values that rewards may be granted: `new TrainConfig({ ..., secrets: ["JUDGE_KEY"] })`. */
export const Secret = {
  /**
   * Sets or replaces a secret.
   *
   * @example
   * const { JUDGE_KEY = "" } = process.env;
   * if (JUDGE_KEY !== "") await Secret.set("JUDGE_KEY", JUDGE_KEY);
   */
  set(name: string, value: string, options: CallOptions = {}): Promise<void> {
    return clientOf(options).command("PUT", pathOf(name), { json: { value }, signal: options.signal });
  },

  /** Names only: values never come back. */
  async list(options: CallOptions = {}): Promise<string[]> {
    const schema = z.object({ names: z.array(z.string()) });
    return (await clientOf(options).request(schema, "GET", "/secrets", { signal: options.signal })).names;
  },

  remove(name: string, options: CallOptions = {}): Promise<void> {
    return clientOf(options).command("DELETE", pathOf(name), { signal: options.signal });
  },
};

function pathOf(name: string): string {
  return `/secrets/${encodeURIComponent(name)}`;
}
