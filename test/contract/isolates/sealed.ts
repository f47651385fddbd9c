import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IsolateBundle, IsolateHandle, Isolates } from "../../../functions/ports/isolates.ts";
import { errorsOf, firstOf, rows, valuesOf } from "./rows.ts";

const FAST = { timeoutMs: 5_000 };

/** What user code cannot reach, and that grants stay where they were given. */
export function sealed(
  get: () => { isolates: Isolates; handle: IsolateHandle; bundle: IsolateBundle },
  noFiles?: string,
): void {
  describe("sealed off", () => {
    let hits = 0;
    const server = createServer((request, response) => {
      hits += 1;
      const to = new URL(request.url ?? "/", "http://here").searchParams.get("to");
      if (to === null) return response.end("reached");
      return response.writeHead(302, { location: to }).end();
    });
    let port = 0;
    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      port = (server.address() as AddressInfo).port;
    });
    afterAll(() => new Promise((resolve) => server.close(resolve)));

    it("refuses the network and says so", async () => {
      const own = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"];
      const urls = [
        ...own.map((host) => `http://${host}:${port}/`),
        "http://169.254.169.254/latest/meta-data/",
        "http://169.254.170.2/v2/credentials/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://metadata.google.internal/computeMetadata/v1/",
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

    it("judges a redirect like a request of its own", async () => {
      const granted = await get().isolates.load({ ...get().bundle, allowHosts: [`127.0.0.1:${port}`] });
      const url = `http://127.0.0.1:${port}/redirect?to=http://localhost:${port}/`;
      const { score, reason } = firstOf(await granted.call("fetches", rows(1, [], { url }), FAST));
      expect([score, reason]).toEqual([403, expect.stringContaining("not an allowed host")]);
    });

    if (noFiles === undefined) {
      it("shows a tree of its own instead of this machine's files", async () => {
        const { score, reason } = firstOf(await get().handle.call("readsFiles", rows(1), FAST));
        expect([score, reason]).toEqual([0, "bundle dev tmp"]);
      });
    } else {
      it(`refuses files: ${noFiles}`, async () => {
        const results = await get().handle.call("readsFiles", rows(1), FAST);
        expect(errorsOf(results)).toEqual({ 0: "reward_failed" });
        expect(JSON.stringify(results)).toContain("restricted");
      });
    }

    it("hides this machine's environment", async () => {
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
