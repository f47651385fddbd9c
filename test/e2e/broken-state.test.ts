import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sha256Of } from "../../functions/records/hash.ts";
import { Client, SpotterError } from "../../sdk/index.ts";
import { daemonFile } from "../../sdk/schema/status.ts";
import { runCli } from "../sdk/cli/run-cli.ts";

const PROGRAM = join(import.meta.dirname, "../../functions/node.ts");
const CLI = join(import.meta.dirname, "../../sdk/cli/bin.ts");
const isRoot = process.getuid?.() === 0;

interface Daemon {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
  call(method: string, path: string, body?: string): Promise<Response>;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-broken-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a daemon; resolves when it listens or has ended. */
async function start(home: string, options: { uid?: number; gid?: number } = {}): Promise<Daemon> {
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, "--port", "0"], {
    env: { ...process.env, SPOTTER_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  const ended = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await Promise.race([ended, vi.waitFor(() => expect(output).toContain("listens on"), { timeout: 30_000 })]);
  const call = async (method: string, path: string, body?: string) => {
    const { url, adminKey } = daemonFile.parse(JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")));
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
    return fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
  };
  return { child, output: () => output, ended, call };
}

async function stop(daemon: Daemon): Promise<void> {
  daemon.child.kill("SIGTERM");
  expect(await daemon.ended).toBe(0);
}

/** The same refusal everywhere: the daemon's last line and exit code, the SDK's error, the CLI's. */
async function expectRefusal(home: string, code: string, remedy: RegExp, exitCode = 2): Promise<void> {
  const daemon = await start(home);
  expect(await daemon.ended).toBe(exitCode);
  const last = JSON.parse(daemon.output().trim().split("\n").at(-1) ?? "") as { error: { hint: string } };
  expect(last).toMatchObject({ error: { code } });
  expect(last.error.hint).toMatch(remedy);
  vi.stubEnv("SPOTTER_HOME", home);
  vi.stubEnv("SPOTTER_PORT", "0");
  vi.stubEnv("SPOTTER_URL", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const error = await new Client().command("GET", "/runs").catch((thrown: unknown) => thrown);
  expect(SpotterError.is(error) && error.code).toBe(code);
  const cli = await runCli("run list");
  expect([cli.code, cli.err]).toEqual([exitCode, expect.stringContaining(`[${code}]`)]);
  expect(cli.err).toMatch(remedy);
}

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ prompt: [{ role: "user", content: `row ${index}` }], row: { index } }),
  ).join("\n");

async function put(daemon: Daemon, body: string): Promise<number> {
  const response = await daemon.call("PUT", `/datasets/${sha256Of(body)}`, body);
  await response.arrayBuffer();
  return response.status;
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

describe("a state folder that cannot be used", () => {
  it("with a damaged database is refused with the way out", async () => {
    const home = newFolder();
    const daemon = await start(home);
    for (let name = 0; name < 40; name++)
      await daemon.call("POST", "/keys", JSON.stringify({ name: `key-${name}` }));
    await stop(daemon);
    const path = join(home, "state.db");
    for (let page = 1; page < statSync(path).size / 4096; page++)
      overwrite(path, page * 4096, Buffer.alloc(64, 7));
    await expectRefusal(home, "state_unreadable", /spotter restore/);
  });

  it("with one altered letter in a document is not believed", async () => {
    const home = newFolder();
    const first = await start(home);
    await first.call("POST", "/keys", JSON.stringify({ name: "unaltered", scope: "admin" }));
    await stop(first);
    const path = join(home, "state.db");
    const at = readFileSync(path).indexOf("unaltered");
    overwrite(path, at, Buffer.from("U"));
    const second = await start(home);
    const answer = await second.call("GET", "/keys");
    expect(await answer.json()).toMatchObject({
      error: { code: "state_unreadable", hint: expect.stringContaining("spotter restore") as string },
    });
    expect((await second.call("GET", "/status")).status).toBe(200);
  });

  it("of a newer version is refused, and not touched", async () => {
    const home = newFolder();
    await stop(await start(home));
    // Bytes 60 to 63 of the header are SQLite's user_version.
    overwrite(join(home, "state.db"), 60, Buffer.from([0, 0, 0, 99]));
    const before = sha256Of(readFileSync(join(home, "state.db")));
    await expectRefusal(home, "state_too_new", /newer version/);
    expect(sha256Of(readFileSync(join(home, "state.db")))).toBe(before);
  });

  it.runIf(isRoot)("that is read-only is refused with the way out", async () => {
    const home = newFolder();
    chmodSync(home, 0o555);
    // To root nothing is read-only, so somebody else tries.
    const daemon = await start(home, { uid: 65_534 });
    expect(await daemon.ended).toBe(2);
    const last = daemon.output().trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({
      error: { code: "state_unreadable", hint: expect.stringContaining("SPOTTER_HOME") as string },
    });
  });
});

describe("a state folder that is closed while its daemon runs", () => {
  // To root nothing is closed, so somebody else has it.
  const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};

  it("is refused by `spotter down` with the way to open it, after which it ends the daemon", async () => {
    const home = newFolder();
    if (user.uid !== undefined) chownSync(home, user.uid, user.gid);
    const down = async () => {
      const env = { ...process.env, SPOTTER_HOME: home, SPOTTER_URL: "" };
      const words = ["--no-warnings", CLI, "down", "--json"];
      const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"], ...user });
      let output = "";
      child.stdout.on("data", (chunk) => (output += String(chunk)));
      await once(child, "close");
      return JSON.parse(output) as unknown;
    };
    const daemon = await start(home, user);
    chmodSync(home, 0o200);
    expect(await down()).toMatchObject({
      error: {
        code: "state_unreadable",
        message: `Cannot read ${join(home, "daemon.json")}: EACCES.`,
        hint: expect.stringContaining(`chmod u+rwx ${home}`) as string,
      },
    });
    chmodSync(home, 0o700);
    expect(await down()).toEqual({ stopped: true, home });
    expect(await daemon.ended).toBe(0);
  });

  it("lets a daemon that is told by its process id end, with what is wrong as its last line", async () => {
    const home = newFolder();
    if (user.uid !== undefined) chownSync(home, user.uid, user.gid);
    const daemon = await start(home, user);
    chmodSync(home, 0o200);
    daemon.child.kill("SIGTERM");
    expect(await daemon.ended).toBe(2);
    chmodSync(home, 0o700);
    const last = daemon.output().trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ error: { code: "state_unreadable", where: home } });
  });
});

describe("a file of the state folder that nobody can read", () => {
  it.each(["daemon.json", "daemon.log"])(
    "such as a folder named %s, is refused with the way out",
    async (name) => {
      const home = newFolder();
      mkdirSync(join(home, name));
      const daemon = await start(home);
      expect(await daemon.ended).toBe(2);
      const last = daemon.output().trim().split("\n").at(-1) ?? "";
      expect(JSON.parse(last)).toMatchObject({
        error: {
          code: "state_unreadable",
          where: join(home, name),
          hint: expect.stringContaining("SPOTTER_HOME") as string,
        },
      });
    },
  );

  it("such as a daemon.json that leads nowhere, is refused with the way out", async () => {
    const home = newFolder();
    symlinkSync("daemon.json", join(home, "daemon.json"));
    await expectRefusal(home, "state_unreadable", /SPOTTER_HOME/);
  });
});

describe("a full disk", () => {
  /** A disk of its own, where this machine lets us have one. */
  function smallDisk(): string | undefined {
    const folder = newFolder();
    const mounted =
      isRoot && spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "none", folder]).status === 0;
    if (mounted) onTestFinished(() => void spawnSync("umount", ["-l", folder]));
    return mounted ? folder : undefined;
  }

  it("is told, keeps what was acknowledged, and works again when there is room", async ({ skip }) => {
    const home = smallDisk();
    if (home === undefined) return skip("no disk of a limited size could be mounted here");
    const daemon = await start(home);
    const acknowledged: string[] = [];
    let refused: Response | undefined;
    const filler = join(home, "filler");
    const free = Number(spawnSync("df", ["--output=avail", "-B1", home]).stdout.toString().split("\n")[1]);
    writeFileSync(filler, Buffer.alloc(Math.max(0, free - 600_000)));
    for (let size = 2_000; size < 2_200 && refused === undefined; size++) {
      const body = rows(size);
      const response = await daemon.call("PUT", `/datasets/${sha256Of(body)}`, body);
      if (response.status === 200) acknowledged.push(body);
      else refused = response;
    }
    expect(refused?.status).toBe(507);
    expect(await refused?.json()).toMatchObject({
      error: { code: "disk_full", hint: expect.stringContaining("Free some space") as string },
    });
    expect(acknowledged.length).toBeGreaterThan(0);
    expect((await daemon.call("GET", "/status")).status).toBe(200);
    rmSync(filler);
    expect(await put(daemon, rows(3_000))).toBe(200);
    daemon.child.kill("SIGKILL");
    await daemon.ended;
    const again = await start(home);
    for (const body of acknowledged) {
      const sha256 = sha256Of(body);
      expect((await again.call("GET", `/datasets/${sha256}`)).status).toBe(200);
      expect(sha256Of(readFileSync(join(home, "blobs", "objects", "datasets", `${sha256}.jsonl`)))).toBe(
        sha256,
      );
    }
    expect(readdirSync(join(home, "blobs", "incoming"))).toEqual([]);
  });
});
