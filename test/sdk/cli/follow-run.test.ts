import { describe, expect, it } from "vitest";
import { withSection } from "../config/project-folder/check.ts";
import { projectFolder } from "../config/project-folder/folder.ts";
import { fakeServer } from "../fake-server.ts";
import { checkpointRecord, HASH, runDetailOf } from "../records.ts";
import { runCli } from "./run-cli.ts";

const FILES = {
  "rewards.py": undefined,
  "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
  "config.yml": withSection("model: { path: spotter/nano }"),
};
const EVENTS = [
  { seq: 1, atMs: 1_000, body: { type: "state", state: "running" } },
  { seq: 2, atMs: 2_000, body: { type: "state", state: "succeeded" } },
];

/** A control plane whose run has ended as soon as it is launched; `onEvents` is what asking for events does. */
async function gym(onEvents?: () => void) {
  return fakeServer({
    "*": ({ path }) =>
      path.startsWith("/datasets/")
        ? { v: 1, sha256: HASH, rows: 4, bytes: 1, createdAtMs: 1 }
        : { v: 1, sha256: HASH, name: "rewards.ts", exports: [], bytes: 1, createdAtMs: 1 },
    "POST /runs": ({ body }) => ({
      ...runDetailOf({ state: "queued" }),
      spec: JSON.parse(body) as object,
    }),
    "GET /runs/run1": () => runDetailOf({ state: "succeeded" }),
    "GET /runs/run1/events": () => (onEvents ? onEvents() : { events: EVENTS, next: 2, done: true }),
    "GET /runs/run1/checkpoints": () => ({ items: [checkpointRecord(10)] }),
  });
}

describe("spotter run --watch", () => {
  const line = () => ["run", "-d", projectFolder(FILES), "--no-write", "--watch"];

  it("follows to the end and says how to serve what came out", async () => {
    const { url } = await gym();
    const { code, out } = await runCli(line(), { url });
    expect(code).toBe(0);
    expect(out).toContain("succeeded");
    expect(out).toMatch(/Serve it: spotter endpoint launch spotter\/nano --checkpoint run1@10\n$/);
  });

  it("says on Ctrl-C that the run goes on", async () => {
    const controller = new AbortController();
    const { url } = await gym(() => {
      setTimeout(() => controller.abort(new Error("Interrupted.")), 5);
    });
    const { code, err } = await runCli(line(), { url, signal: controller.signal });
    expect(code).toBe(130);
    expect(err).toContain("run1 goes on. Look again: spotter run watch run1\n");
  });

  it("prints with --json one document and no progress", async () => {
    const { url } = await gym();
    const { code, out } = await runCli([...line(), "--json"], { url });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ runs: [{ id: "run1" }] });
  });
});
