import { spawn, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { daemonFile, type DaemonFile } from "../../sdk/schema/status.ts";

const PROGRAM = join(import.meta.dirname, "../../functions/node.ts");
const WAIT = { timeout: 15_000, interval: 20 };

interface Started {
  child: ChildProcess;
  home: string;
  output: () => string;
  exited: Promise<number | null>;
  /** The file it writes when it listens. */
  file: () => Promise<DaemonFile>;
}

function start(args: string[], home = newHome(), more: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, ...args], {
    env: { ...process.env, SPOTTER_HOME: home, ...more },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const file = async () => {
    await vi.waitFor(() => expect(output).toContain("listens on"), WAIT);
    return daemonFile.parse(JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")));
  };
  return { child, home, output: () => output, exited, file };
}

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "spotter-daemon-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

async function status(file: DaemonFile): Promise<number> {
  const headers = { authorization: `Bearer ${file.adminKey}` };
  return (await fetch(`${file.url}/status`, { headers })).status;
}

/** What others than the owner may do with anything directly in a folder; below what is closed they get nowhere. */
function openToOthers(home: string): string[] {
  return readdirSync(home).filter((name) => (statSync(join(home, name)).mode & 0o077) !== 0);
}

describe("the daemon", () => {
  it("writes how to reach it for its owner only, prints one line, and ends when asked", async () => {
    const daemon = start(["--port", "0"]);
    const file = await daemon.file();
    expect(daemon.output().trim().split("\n")).toEqual([
      `spotter ${file.version} listens on ${file.url}, state in ${daemon.home}`,
    ]);
    expect(statSync(join(daemon.home, "daemon.json")).mode & 0o777).toBe(0o600);
    expect(file.pid).toBe(daemon.child.pid);
    expect(await status(file)).toBe(200);
    expect(await status({ ...file, adminKey: "sk-spotter-guess" })).toBe(401);
    const headers = { authorization: `Bearer ${file.adminKey}` };
    expect((await fetch(`${file.url}/shutdown`, { method: "POST", headers })).status).toBe(200);
    expect(await daemon.exited).toBe(0);
    expect(existsSync(join(daemon.home, "daemon.json"))).toBe(false);
  }, 30_000);

  it("keeps its state to its owner in a folder that others may read, also what was open before", async () => {
    const home = newHome();
    chmodSync(home, 0o755);
    mkdirSync(join(home, "cache"));
    writeFileSync(join(home, "daemon.log"), "");
    chmodSync(join(home, "cache"), 0o755);
    chmodSync(join(home, "daemon.log"), 0o644);
    const daemon = start(["--port", "0"], home);
    await daemon.file();
    expect(readdirSync(home)).toEqual(
      expect.arrayContaining(["state.db", "state.db-wal", "state.db-shm", "blobs", "cache"]),
    );
    expect(openToOthers(home)).toEqual([]);
    expect(statSync(home).mode & 0o777).toBe(0o755);
    daemon.child.kill("SIGTERM");
    expect(await daemon.exited).toBe(0);
    expect(openToOthers(home)).toEqual([]);
  }, 30_000);

  it("logs each request of the gateway with its id and no key, and sends its trace where OTLP is configured", async () => {
    const bodies: string[] = [];
    const collector = createHttpServer((request, response) => {
      request.setEncoding("utf8").on("data", (text: string) => bodies.push(text));
      request.on("end", () => response.end("{}"));
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void collector.close());
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const daemon = start(["--port", "0"], newHome(), { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    const { url, adminKey } = await daemon.file();
    const headers = { authorization: `Bearer ${adminKey}`, "x-request-id": "mine.1" };
    const body = JSON.stringify({ model: "nobody", messages: [{ role: "user", content: "secret words" }] });
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(answer.status).toBe(404);
    expect(answer.headers.get("x-request-id")).toBe("mine.1");
    daemon.child.kill("SIGTERM");
    expect(await daemon.exited).toBe(0);
    const log = readFileSync(join(daemon.home, "daemon.log"), "utf8");
    const line = log.split("\n").find((text) => text.includes('"mine.1"'));
    expect(JSON.parse(line ?? "{}")).toMatchObject({
      level: "info",
      message: "request",
      route: "/v1/chat/completions",
      status: 404,
      code: "model_not_found",
    });
    expect(log).not.toContain("secret words");
    expect(log).not.toContain(adminKey);
    expect(bodies.join("")).toContain('"POST /v1/chat/completions"');
  }, 30_000);

  it("has a new admin key at each start, and the state and port of the last one after a crash", async () => {
    const first = start(["--port", "0"]);
    const before = await first.file();
    const headers = { authorization: `Bearer ${before.adminKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "kept", scope: "admin" });
    const created = (await (await fetch(`${before.url}/keys`, { method: "POST", headers, body })).json()) as {
      key: string;
    };
    first.child.kill("SIGKILL");
    await first.exited;
    const second = start([], first.home);
    const after = await second.file();
    expect(after.url).toBe(before.url);
    expect(after.adminKey).not.toBe(before.adminKey);
    expect(await status({ ...after, adminKey: before.adminKey })).toBe(401);
    expect(await status({ ...after, adminKey: created.key })).toBe(200);
    second.child.kill("SIGTERM");
    expect(await second.exited).toBe(0);
  }, 30_000);

  it("refuses a state folder that another daemon owns", async () => {
    const first = start(["--port", "0"]);
    await first.file();
    const second = start(["--port", "0"], first.home);
    expect(await second.exited).toBe(2);
    const last = second.output().trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ error: { code: "state_locked" } });
    expect(last).toContain(String(first.child.pid));
    expect(await status(await first.file())).toBe(200);
  }, 30_000);

  it("refuses a port of another program, with the remedy", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => void other.close(() => resolve())));
    const port = (other.address() as AddressInfo).port;
    const daemon = start(["--port", String(port)]);
    expect(await daemon.exited).toBe(2);
    const error = JSON.parse(daemon.output().trim().split("\n").at(-1) ?? "") as unknown;
    expect(error).toMatchObject({
      error: {
        code: "port_busy",
        where: `127.0.0.1:${port}`,
        hint: expect.stringContaining("--port") as string,
      },
    });
    expect(existsSync(join(daemon.home, "daemon.json"))).toBe(false);
  }, 30_000);

  it("ends by itself when nobody needs it", async () => {
    const daemon = start(["--port", "0", "--idle-exit-ms", "300"]);
    await daemon.file();
    expect(await daemon.exited).toBe(0);
  }, 30_000);

  it("says what is wrong with its flags", async () => {
    const daemon = start(["--port", "http"]);
    expect(await daemon.exited).toBe(2);
    expect(JSON.parse(daemon.output())).toMatchObject({ error: { code: "invalid_input", where: "--port" } });
    const unknown = start(["--porto", "1"]);
    expect(await unknown.exited).toBe(2);
  }, 30_000);
});
