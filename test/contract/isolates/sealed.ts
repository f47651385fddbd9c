import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IsolateBundle, IsolateHandle, Isolates } from "../../../functions/ports/isolates.ts";
import { errorsOf, firstOf, rows, valuesOf } from "./rows.ts";

const FAST = { timeoutMs: 5_000 };

/** What user code cannot reach, and that grants stay where they were given. */
export function sealed(
  get: () => { isolates: Isolates; handle: IsolateHandle; bundle: IsolateBundle },
): void {
  describe("sealed off", () => {
    let hits = 0;
    const server = createServer((_, response) => {
      hits += 1;
      response.end("reached");
    });
    let port = 0;
    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      port = (server.address() as AddressInfo).port;
    });
    afterAll(() => new Promise((resolve) => server.close(resolve)));

    it("refuses the network and says so", async () => {
      const urls = [
        `http://127.0.0.1:${port}/`,
        "http://169.254.169.254/latest/meta-data/",
        "https://example.com/",
      ];
      for (const url of urls) {
        const { score, reason } = firstOf(await get().handle.call("fetches", rows(1, [], { url }), FAST));
        expect([score, reason]).toEqual([403, expect.stringContaining("network access is disabled")]);
      }
      expect(valuesOf(await get().handle.call("connects", rows(1, [], { port }), FAST))).not.toEqual([1]);
      expect(hits).toBe(0);
    });

    it("lets listed hosts through and no others", async () => {
      const host = `127.0.0.1:${port}`;
      const granted = await get().isolates.load({ ...get().bundle, allowHosts: [host] });
      const inside = firstOf(await granted.call("fetches", rows(1, [], { url: `http://${host}/` }), FAST));
      expect(inside).toMatchObject({ score: 200, reason: "reached" });
      const outside = firstOf(
        await granted.call("fetches", rows(1, [], { url: "http://127.0.0.1:1/" }), FAST),
      );
      expect([outside.score, outside.reason]).toEqual([403, expect.stringContaining("not an allowed host")]);
    });

    it("hides this machine's files and environment", async () => {
      const { score, reason } = firstOf(await get().handle.call("readsFiles", rows(1), FAST));
      expect([score, reason]).toEqual([0, "bundle dev tmp"]);
      expect(firstOf(await get().handle.call("readsEnvironment", rows(1), FAST)).score).toBe(0);
    });

    it("hands out granted secrets only, and shares no memory between grants", async () => {
      const plain = firstOf(await get().handle.call("counts", rows(1), FAST));
      const granted = await get().isolates.load({ ...get().bundle, secrets: { API_KEY: "s3cret-value" } });
      const first = firstOf(await granted.call("counts", rows(1), FAST));
      expect(plain.reason).toBe("");
      expect(first).toEqual({ score: 1, reason: "API_KEY" });
    });

    it("blacks out secrets in errors", async () => {
      const granted = await get().isolates.load({ ...get().bundle, secrets: { API_KEY: "s3cret-value" } });
      const results = await granted.call("leaks", rows(1), FAST);
      expect(errorsOf(results)).toEqual({ 0: "reward_failed" });
      expect(JSON.stringify(results)).toContain("key [secret API_KEY]");
      expect(JSON.stringify(results)).not.toContain("s3cret-value");
    });
  });
}
