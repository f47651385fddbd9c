import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createWorkerdIsolates,
  type WorkerdIsolates,
  type WorkerdIsolatesParams,
} from "../../../../functions/local/workerd-isolates/index.ts";
import type { IsolateBundle } from "../../../../functions/ports/isolates.ts";
import { bundleUserCode } from "../../../../sdk/user-code/bundle.ts";
import { errorsOf, rows, valuesOf } from "../../../contract/isolates/rows.ts";

const FIXTURE = new URL("../../../fixtures/user-code/misbehaving.js", import.meta.url);

// Looks into /proc.
describe.skipIf(process.platform !== "linux")("workerd processes", () => {
  let bundle: IsolateBundle;
  let workDir: string;
  let opened: WorkerdIsolates[];
  const open = (params: WorkerdIsolatesParams = {}) => {
    const isolates = createWorkerdIsolates({ workDir, ...params });
    opened.push(isolates);
    return isolates;
  };
  beforeAll(async () => {
    bundle = { ...(await bundleUserCode(FIXTURE)), secrets: {} };
  });
  beforeEach(() => {
    workDir = mkdtempSync(join(tmpdir(), "spotter-workerd-"));
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((isolates) => isolates.close()));
    rmSync(workDir, { recursive: true });
  });

  it("leaves no process and no file behind after close()", async () => {
    const isolates = open();
    await isolates.load(bundle);
    await isolates.load({ ...bundle, secrets: { KEY: "value" } });
    expect(isolates.running).toBe(2);
    expect(processesIn(workDir)).toHaveLength(2);
    await isolates.close();
    expect(processesIn(workDir)).toEqual([]);
    expect(readdirSync(workDir)).toEqual([]);
  });

  it("works below a folder whose path is too long for a socket", async () => {
    const handle = await open({ workDir: join(workDir, "deep".repeat(20)) }).load(bundle);
    expect(valuesOf(await handle.call("fine", rows(1), { timeoutMs: 5_000 }))).toEqual([0]);
  });

  it("keeps no secret on disk, in the environment or in the arguments", async () => {
    await open().load({ ...bundle, secrets: { KEY: "very-secret-value" } });
    const [pid] = processesIn(workDir);
    const { execFileSync } = await import("node:child_process");
    const found = execFileSync("sh", [
      "-c",
      `cat /proc/${pid}/environ /proc/${pid}/cmdline ${workDir}/*/*.* | wc -c`,
    ]);
    expect(Number(found)).toBeGreaterThan(1000);
    const hits = execFileSync("sh", [
      "-c",
      `cat /proc/${pid}/environ /proc/${pid}/cmdline ${workDir}/*/*.* | grep -c very-secret-value || true`,
    ]);
    expect(Number(hits)).toBe(0);
  });

  it("ends what is starting or stuck when it is closed", async () => {
    const isolates = open();
    const handle = await isolates.load(bundle);
    const stuck = expect(handle.call("loops", rows(3, [0, 1]), { timeoutMs: 60_000 })).rejects.toThrow(
      "closed",
    );
    const starting = expect(isolates.load({ ...bundle, secrets: { KEY: "value" } })).rejects.toThrow(
      "closed",
    );
    await isolates.close();
    await Promise.all([stuck, starting]);
    expect(processesIn(workDir)).toEqual([]);
    await expect(handle.call("fine", rows(1), { timeoutMs: 1_000 })).rejects.toThrow("closed");
  });

  it("ends an idle process and starts another when it is called again", async () => {
    const isolates = open({ idleTimeoutMs: 30 });
    const handle = await isolates.load(bundle);
    await vi.waitFor(() => expect(processesIn(workDir)).toEqual([]));
    expect(valuesOf(await handle.call("fine", rows(2), { timeoutMs: 5_000 }))).toEqual([0, 1]);
  });

  it("starts again after its process was killed from outside", async () => {
    const handle = await open().load(bundle);
    const [pid] = processesIn(workDir);
    process.kill(Number(pid), "SIGKILL");
    await vi.waitFor(() => expect(processesIn(workDir)).toEqual([]));
    expect(valuesOf(await handle.call("fine", rows(2), { timeoutMs: 5_000 }))).toEqual([0, 1]);
  });

  it("dies with a control plane that is ended by force", async () => {
    const source = new URL("../../../../functions/local/workerd-isolates/index.ts", import.meta.url).href;
    const file = join(workDir, "code.mjs");
    writeFileSync(file, bundle.code);
    const script = `
      const { createWorkerdIsolates } = await import(${JSON.stringify(source)});
      const { readFileSync } = await import("node:fs");
      const isolates = createWorkerdIsolates({ workDir: ${JSON.stringify(workDir)} });
      const handle = await isolates.load({ sha256: "0", secrets: {}, code: readFileSync(${JSON.stringify(file)}) });
      console.log("ready");
      await handle.call("loops", [{ row: { bad: true } }], { timeoutMs: 60_000 });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    expect(processesIn(workDir)).toHaveLength(1);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(processesIn(workDir)).toEqual([]));
  });

  it("removes the folders of a control plane that was ended by force", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    const dead = join(workDir, `isolate-${child.pid}-abc`);
    const alive = join(workDir, `isolate-${process.pid}-abc`);
    for (const folder of [dead, alive]) mkdirSync(folder);
    open();
    expect([existsSync(dead), existsSync(alive)]).toEqual([false, true]);
  });

  it("watches memory where the kernel does not limit it, and says so", async () => {
    const isolates = open({ memoryMiB: 64, findProgram: () => undefined });
    expect(isolates.notes).toEqual([
      expect.stringContaining("prlimit not found"),
      expect.stringContaining("setpriv not found"),
    ]);
    const handle = await isolates.load(bundle);
    const results = await handle.call("fillsBuffers", rows(3, [1]), { timeoutMs: 10_000 });
    expect(errorsOf(results)).toEqual({ 1: "isolate_out_of_memory" });
  });

  it("blames the machine and not the code when workerd does not start", async () => {
    const isolates = open({ findProgram: (name) => `/nowhere/${name}` });
    await expect(isolates.load(bundle)).rejects.toMatchObject({
      code: "isolate_crashed",
      message: expect.stringContaining("did not start") as string,
    });
  });

  it("passes on what user code prints, up to a limit", async () => {
    const lines: string[] = [];
    const handle = await open({ onMessage: ({ level, text }) => lines.push(`${level} ${text}`) }).load(
      bundle,
    );
    await handle.call("prints", rows(1), { timeoutMs: 5_000 });
    await vi.waitFor(() => expect(lines.at(-1)).toContain("line 1000 of this call"));
    expect(lines).toHaveLength(52);
    expect(lines[0]).toContain("line 0");
  });
});

/** workerd processes that serve from the folder. */
function processesIn(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(`serve\0${folder}/`));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
