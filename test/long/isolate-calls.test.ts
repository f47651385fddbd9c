import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createWorkerdIsolates } from "../../functions/local/workerd-isolates/index.ts";
import { bundleUserCode } from "../../sdk/user-code/bundle.ts";
import { rows } from "../contract/isolates/rows.ts";

const CALLS = 20_000;
const FIXTURE = new URL("../fixtures/user-code/misbehaving.js", import.meta.url);

// Looks into /proc.
it.skipIf(process.platform !== "linux")(
  "makes 20,000 calls of an isolate over one connection (89)",
  async () => {
    const workDir = mkdtempSync(join(tmpdir(), "spotter-calls-"));
    const isolates = createWorkerdIsolates({ workDir });
    onTestFinished(async () => {
      await isolates.close();
      rmSync(workDir, { recursive: true });
    });
    const handle = await isolates.load({ ...(await bundleUserCode(FIXTURE)), secrets: {} });
    const call = () => handle.call("fine", rows(1), { timeoutMs: 5_000 });
    await call();
    const openFiles = () => readdirSync("/proc/self/fd").length;
    const before = openFiles();
    let most = 0;
    for (let i = 0; i < CALLS; i++) {
      expect(await call()).toEqual([{ value: 0 }]);
      if (i % 1_000 === 0) most = Math.max(most, openFiles());
    }
    expect(most).toBeLessThanOrEqual(before + 2);
  },
);
