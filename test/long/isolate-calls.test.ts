import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createWorkerdIsolates } from "../../functions/local/workerd-isolates/index.ts";
import { bundleUserCode } from "../../sdk/user-code/bundle.ts";
import { rows } from "../contract/isolates/rows.ts";

// A socket per call would run out of ports here.
describe.skipIf(process.platform !== "linux")("20,000 calls of an isolate", () => {
  it("keep to one connection", async () => {
    const isolates = createWorkerdIsolates();
    try {
      const file = new URL("../fixtures/user-code/misbehaving.js", import.meta.url);
      const handle = await isolates.load({ ...(await bundleUserCode(file)), secrets: {} });
      const one = rows(1);
      const calls = async (count: number) => {
        const abort = new AbortController();
        for (let i = 0; i < count; i++) {
          const results = await handle.call("fine", one, { timeoutMs: 10_000, signal: abort.signal });
          expect(results).toEqual([{ value: 0 }]);
        }
      };
      await calls(1_000);
      const before = { files: openFiles(), timeWait: timeWait() };
      await calls(19_000);
      expect(openFiles()).toBeLessThanOrEqual(before.files + 2);
      expect(timeWait()).toBeLessThanOrEqual(before.timeWait + 20);
    } finally {
      await isolates.close();
    }
  });
});

function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}

function timeWait(): number {
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .filter((line) => / 06 /.test(line)).length;
}
