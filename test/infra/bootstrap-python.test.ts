import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programVariables, pythonCommand } from "../../infra/bootstrap/container-program.ts";
import { archive as pack } from "../../infra/bundle/tar.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");
const mayGiveUp = process.getuid?.() === 0 && spawnSync("setpriv", ["--version"]).status === 0;
if (!mayGiveUp) process.stderr.write("skipped what only root shows: rights that are given up for good\n");

const folder = mkdtempSync(join(tmpdir(), "spotter-python-program-"));
const asked: string[] = [];
let server: Server;
let base = "";
let sha256 = "";

/** Says what it was given; waits for SIGTERM where its job is to serve. */
const PROGRAM = `
import json, os, signal, sys, time
said = {"arguments": sys.argv[1:], "file": __file__, **os.environ}
try:
    said["rights"] = [line for line in open("/proc/self/status").read().splitlines() if line[:6] in ("CapBnd", "CapPrm", "NoNewP")]
except OSError:
    pass
try:
    os.setgid(0)
    said["group"] = "left"
except OSError:
    said["group"] = "kept"
is_serving = os.environ["SPOTTER_JOB_ID"].startswith("serve")
if is_serving:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
print(json.dumps(said), flush=True)
if is_serving:
    time.sleep(60)
sys.exit(3)
`;

beforeAll(async () => {
  const archive = pack([
    { path: "agent/__init__.py", content: Buffer.alloc(0) },
    { path: "agent/__main__.py", content: Buffer.from(PROGRAM) },
  ]);
  sha256 = createHash("sha256").update(archive).digest("hex");
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const isAway = request.url === "/away" || (request.url === "/late" && asked.length < 3);
    response.statusCode = isAway ? 503 : 200;
    // Cut off once: what came is not what it has to hash to.
    const isCut = request.url === "/cut" && asked.length < 2;
    response.end(isAway ? "" : isCut ? archive.subarray(0, 50) : archive);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function start(path: string, jobId: string, changes: Record<string, string> = {}, isRoot = false) {
  asked.length = 0;
  const program = { url: `${base}${path}`, sha256, entry: "agent" };
  const [command = "", ...words] = pythonCommand({ isRoot });
  const child = spawn(command, words, {
    env: {
      ...Object.fromEntries(
        programVariables(program, { network: "10.42." }).map(({ name, value }) => [name, value]),
      ),
      PATH: process.env["PATH"],
      HOME: "/nobody",
      TMPDIR: folder,
      SPOTTER_JOB_ID: jobId,
      SPOTTER_JOB_TOKEN: "secret",
      SPOTTER_PROGRAM_PAUSE_MS: "5",
      ...changes,
    },
    ...(isRoot && { gid: 1000 }),
  });
  const said = { out: "", errors: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.errors += chunk.toString()));
  const ended = once(child, "close") as Promise<[number | null]>;
  return { child, said, code: ended.then(([code]) => code) };
}

describe.skipIf(!hasPython)("a container of a GPU engine", () => {
  it("becomes the agent: same process, its variables, its exit code, and a home where there is none", async () => {
    const { child, said, code } = start("/program", "train-01ABC-1");
    expect(await code).toBe(3);
    expect(said.errors).toBe("");
    const given = JSON.parse(said.out) as Record<string, string>;
    const workDir = join(folder, "spotter-work");
    expect(given).toMatchObject({
      arguments: [],
      file: join(folder, `spotter-${sha256.slice(0, 12)}`, "agent/__main__.py"),
      PYTHONPATH: join(folder, `spotter-${sha256.slice(0, 12)}`),
      SPOTTER_JOB_TOKEN: "secret",
      SPOTTER_WORK_DIR: workDir,
      HOME: workDir,
      USER: process.getuid?.() === 0 ? "root" : "spotter",
    });
    expect(Object.keys(given).filter((name) => name.startsWith("SPOTTER_PROGRAM_"))).toEqual([
      "SPOTTER_PROGRAM_PAUSE_MS",
    ]);
    expect(child.spawnargs.join(" ")).not.toContain("secret");
  });

  it.each(["/late", "/cut"])(
    "tries %s again, keeps a home that it has, and passes on a signal",
    async (path) => {
      const home = join(folder, "home");
      mkdirSync(home, { recursive: true });
      const { child, said, code } = start(path, "serve-haiku-1", { HOME: home, USER: "root" });
      await once(child.stdout, "data");
      expect(JSON.parse(said.out)).toMatchObject({ HOME: home, USER: "root", LOGNAME: "root" });
      expect(asked).toHaveLength(path === "/late" ? 3 : 2);
      child.kill("SIGTERM");
      expect(await code).toBe(7);
    },
  );

  it.each([
    ["is not there", "/away", {}, "/away could not be fetched: it answered 503"],
    ["is another one", "/program", { SPOTTER_PROGRAM_SHA256: "0".repeat(64) }, "its SHA-256 is"],
    ["cannot be asked for", "", { SPOTTER_PROGRAM_URL: "http://127.0.0.1:1/x" }, "Connection refused"],
  ])("whose agent %s runs nothing, and says why", async (_what, path, changes, message) => {
    const { said, code } = start(path, "train-01ABC-1", changes);
    expect(await code).toBe(1);
    expect(said.out).toBe("");
    expect(said.errors).toMatch(/^container_failed: http/);
    expect(said.errors).toContain(message);
  });

  it.skipIf(!mayGiveUp)(
    "as root cannot leave the group that its host knows it by, whatever it runs",
    async () => {
      const { said, code } = start("/program", "train-01ABC-1", {}, true);
      expect(await code).toBe(3);
      const { group, rights, APT_CONFIG } = JSON.parse(said.out) as Record<string, string> & {
        rights: string[];
      };
      expect(group).toBe("kept");
      expect(readFileSync(APT_CONFIG ?? "", "utf8")).toBe('APT::Sandbox::User "root";\n');
      expect(rights).toContain("NoNewPrivs:\t1");
      const [permitted = 0n, bounding = 0n] = ["CapPrm", "CapBnd"].map((name) =>
        BigInt(`0x${rights.find((line) => line.startsWith(name))?.split("\t")[1]}`),
      );
      // setgid, setuid, setpcap, net_raw, sys_chroot, mknod, setfcap, by their numbers.
      for (const right of [6n, 7n, 8n, 13n, 18n, 27n, 31n])
        expect((permitted | bounding) & (1n << right), String(right)).toBe(0n);
      // What installing into the image needs: chown, dac_override.
      expect(permitted & 3n).toBe(3n);
    },
  );
});

it("has nothing in its command that Batch would put something else for, and leaves room for the rest", () => {
  const command = pythonCommand({ isRoot: true }).join(" ");
  expect(command).not.toContain("Ref::");
  expect(command.length).toBeLessThan(6_000);
});
