import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { Client } from "../../sdk/index.ts";
import { stopLocalDaemon } from "../../sdk/local/index.ts";

/** A state folder of its own for a test file; its daemon, started by the first call, ends with the file. */
export function ownHome(): { home: string } {
  const home = mkdtempSync(join(tmpdir(), "spotter-e2e-"));
  const before = { SPOTTER_HOME: process.env.SPOTTER_HOME, SPOTTER_PORT: process.env.SPOTTER_PORT };
  beforeAll(() => {
    Object.assign(process.env, { SPOTTER_HOME: home, SPOTTER_PORT: "0" });
    delete process.env.SPOTTER_URL;
    Client.setDefault(undefined);
  });
  afterAll(async () => {
    await stopLocalDaemon({ home });
    rmSync(home, { recursive: true, force: true });
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  return { home };
}
