import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  existsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectLocal, ensureDaemon } from "../../../sdk/local/connect.ts";
import { findDaemon } from "../../../sdk/local/find-daemon.ts";
import { stopDaemon } from "../../../sdk/local/stop-daemon.ts";
import { markStopped } from "../../../sdk/local/stop-mark.ts";

const program = fileURLToPath(new URL("../../fixtures/sdk/daemon.ts", import.meta.url));

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "spotter-home-"));
  onTestFinished(async () => {
    const daemon = await findDaemon(home);
    if (daemon) await stopDaemon(daemon);
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

const starts = (home: string) => readdirSync(join(home, "starts")).length;

afterEach(() => vi.unstubAllEnvs());

describe("connectLocal", () => {
  it("starts the daemon, and finds it the next time", async () => {
    const home = newHome();
    const first = await connectLocal({ home, program, version: "1.0.0", port: 0 });
    expect(first).toEqual({
      pid: expect.any(Number) as number,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      key: "fake-key",
    });
    expect(await connectLocal({ home, program, version: "1.0.0" })).toEqual(first);
    expect(starts(home)).toBe(1);
    const pid = readdirSync(join(home, "starts"))[0] ?? "";
    expect(readFileSync(join(home, "starts", pid), "utf8")).toBe("--port 0 --idle-exit-ms 600000");
    expect(existsSync(join(home, "start.lock"))).toBe(false);
  });

  it("starts one daemon for scripts that begin at the same time", async () => {
    const home = newHome();
    const params = { home, program, version: "1.0.0" };
    const found = await Promise.all([1, 2, 3, 4].map(() => connectLocal(params)));
    expect(new Set(found.map(({ url }) => url)).size).toBe(1);
    expect(starts(home)).toBe(1);
  });

  it("starts anew where the file is a leftover, broken or of another program", async () => {
    const home = newHome();
    writeFileSync(join(home, "daemon.json"), "{");
    await connectLocal({ home, program, version: "1.0.0" });
    const daemon = await findDaemon(home);
    process.kill(daemon?.pid ?? 0, "SIGKILL");
    await vi.waitFor(async () => expect(await findDaemon(home)).toBeUndefined());
    await connectLocal({ home, program, version: "1.0.0" });
    expect(starts(home)).toBe(2);
  });

  it("starts none for who used one that was stopped on purpose, until somebody wants one", async () => {
    const home = newHome();
    const params = { home, program, version: "1.0.0" };
    const first = await ensureDaemon(params);
    await markStopped(home, first.pid);
    await stopDaemon(first);
    await expect(connectLocal({ ...params, previousPid: first.pid })).rejects.toMatchObject({
      code: "daemon_unreachable",
      message: "The daemon was stopped by `spotter down`.",
      hint: "The run goes on from its last checkpoint after `spotter up`.",
      retryable: false,
    });
    const second = await connectLocal(params);
    expect((await connectLocal({ ...params, previousPid: first.pid })).pid).toBe(second.pid);
    expect(starts(home)).toBe(2);
    expect(existsSync(join(home, "stopped"))).toBe(false);
  });

  it("starts another where the one before died by itself", async () => {
    const home = newHome();
    const params = { home, program, version: "1.0.0" };
    const first = await ensureDaemon(params);
    await stopDaemon(first);
    expect((await connectLocal({ ...params, previousPid: first.pid })).pid).not.toBe(first.pid);
  });

  it("takes over from a process that died while it was starting the daemon", async () => {
    const home = newHome();
    writeFileSync(join(home, "start.lock"), "999999999\n");
    await connectLocal({ home, program, version: "1.0.0" });
    expect(starts(home)).toBe(1);
  });

  it("replaces an idle daemon of another version", async () => {
    const home = newHome();
    vi.stubEnv("FAKE_VERSION", "0.9.0");
    await ensureDaemon({ home, program, version: "0.9.0" });
    vi.stubEnv("FAKE_VERSION", "1.0.0");
    const daemon = await ensureDaemon({ home, program, version: "1.0.0" });
    expect(daemon.runningVersion).toBe("1.0.0");
    expect(starts(home)).toBe(2);
  });

  it("leaves a busy daemon of another version alone", async () => {
    const home = newHome();
    vi.stubEnv("FAKE_VERSION", "0.9.0");
    vi.stubEnv("FAKE_RUNS", "1");
    await ensureDaemon({ home, program, version: "0.9.0" });
    await expect(connectLocal({ home, program, version: "1.0.0" })).rejects.toMatchObject({
      code: "version_mismatch",
    });
    expect(starts(home)).toBe(1);
  });

  it("passes on why the daemon could not start", async () => {
    const home = newHome();
    const error = { code: "port_busy", kind: "user", message: "Port 7717 is taken.", hint: "Use another." };
    vi.stubEnv("FAKE_ERROR", JSON.stringify({ error }));
    await expect(connectLocal({ home, program })).rejects.toMatchObject(error);
    vi.stubEnv("FAKE_ERROR", "it went wrong");
    await expect(connectLocal({ home, program })).rejects.toMatchObject({
      code: "daemon_unreachable",
      message: expect.stringContaining("ended with code 2.\n  | starting\n  | it went wrong") as string,
    });
    expect(existsSync(join(home, "start.lock"))).toBe(false);
  });

  it("waits for a daemon that owns the folder but is slow to answer or about to end", async () => {
    const home = newHome();
    const error = { code: "state_locked", kind: "user", message: "It is in use." };
    vi.stubEnv("FAKE_ERROR", JSON.stringify({ error }));
    await expect(connectLocal({ home, program, waitMs: 0 })).rejects.toMatchObject(error);
    const connecting = connectLocal({ home, program, version: "1.0.0" });
    await vi.waitFor(() => expect(readFileSync(join(home, "daemon-start.log"), "utf8")).toContain("in use"));
    vi.stubEnv("FAKE_ERROR", undefined);
    expect((await connecting).key).toBe("fake-key");
  });

  it.each(["daemon.json", "daemon-start.log", "start.lock"])(
    "names the folder where %s must be",
    async (name) => {
      const home = mkdtempSync(join(tmpdir(), "spotter-home-"));
      onTestFinished(() => rmSync(home, { recursive: true }));
      const path = join(home, name);
      mkdirSync(path);
      await expect(connectLocal({ home, program, version: "1.0.0" })).rejects.toMatchObject({
        code: "state_unreadable",
        message: `${path} is a folder where a file must be.`,
        where: path,
      });
      expect(existsSync(join(home, "starts"))).toBe(false);
    },
  );

  it.each(["-1", "65536", "7717x", "1e3", " "])("refuses SPOTTER_PORT=%s", async (port) => {
    const home = newHome();
    vi.stubEnv("SPOTTER_PORT", port);
    await expect(connectLocal({ home, program, version: "1.0.0" })).rejects.toMatchObject({
      code: "invalid_input",
      where: "SPOTTER_PORT",
    });
    expect(existsSync(join(home, "start.lock"))).toBe(false);
  });

  it("says that it cannot write to the state folder", async () => {
    const home = join(newHome(), "file");
    writeFileSync(home, "");
    await expect(connectLocal({ home, program })).rejects.toMatchObject({ code: "state_unreadable" });
  });
});
