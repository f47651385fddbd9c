import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCommand, programVariables } from "../../infra/bootstrap/container-program.ts";

const folder = mkdtempSync(join(tmpdir(), "spotter-program-"));
const asked: string[] = [];
let server: Server;
let base = "";
let archive: Buffer;
let sha256 = "";

/** Says what it was given; waits for SIGTERM where its job is to serve. */
const PROGRAM = `
  const { SPOTTER_JOB_ID: id } = process.env;
  const isServing = id.startsWith("serve");
  if (isServing) process.on("SIGTERM", () => process.exit(7));
  console.log(JSON.stringify({ entry: import.meta.filename, arguments: process.argv.slice(2), ...process.env }));
  if (isServing) setInterval(() => {}, 1000);
  else process.exit(3);
`;

beforeAll(async () => {
  for (const kind of ["serve", "train"]) {
    mkdirSync(join(folder, "files/engine"), { recursive: true });
    writeFileSync(join(folder, `files/engine/${kind}.mjs`), PROGRAM);
  }
  const { stdout } = spawnSync("tar", ["-czf", "-", "-C", join(folder, "files"), "."]);
  archive = stdout;
  sha256 = createHash("sha256").update(archive).digest("hex");
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const isAway = request.url === "/away" || (request.url === "/late" && asked.length < 3);
    response.statusCode = isAway ? 503 : 200;
    response.end(isAway ? "" : archive);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function start(path: string, jobId: string, changes: Record<string, string> = {}) {
  asked.length = 0;
  const program = { url: `${base}${path}`, sha256, entry: "engine/{kind}.mjs" };
  const variables = programVariables(program, { network: "10.42." });
  const [, ...given] = nodeCommand();
  const child = spawn(process.execPath, given, {
    env: {
      ...Object.fromEntries(variables.map(({ name, value }) => [name, value])),
      PATH: process.env["PATH"],
      TMPDIR: folder,
      SPOTTER_JOB_ID: jobId,
      SPOTTER_JOB_TOKEN: "secret",
      SPOTTER_PROGRAM_PAUSE_MS: "5",
      ...changes,
    },
  });
  const said = { out: "", errors: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.errors += chunk.toString()));
  const ended = once(child, "close") as Promise<[number | null]>;
  return { child, said, code: ended.then(([code]) => code) };
}

describe("a container", () => {
  it("becomes the program of its job: same process, its variables, its exit code", async () => {
    const { child, said, code } = start("/program", "train-01ABC-1");
    expect(await code).toBe(3);
    expect(said.errors).toBe("");
    const given = JSON.parse(said.out) as Record<string, string>;
    expect(given).toMatchObject({
      entry: expect.stringMatching(/\/engine\/train\.mjs$/) as string,
      arguments: [],
      SPOTTER_JOB_ID: "train-01ABC-1",
      SPOTTER_JOB_TOKEN: "secret",
      SPOTTER_WORK_DIR: join(folder, "spotter-work"),
    });
    expect(Object.keys(given).filter((name) => name.startsWith("SPOTTER_PROGRAM_"))).toEqual([
      "SPOTTER_PROGRAM_PAUSE_MS",
    ]);
    expect(child.spawnargs.join(" ")).not.toContain("secret");
  });

  it("tells its program the address that others reach it at, and passes on a signal", async () => {
    const own = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === "IPv4");
    const address = own?.address ?? "";
    const { child, said, code } = start("/late", "serve-haiku-1", { SPOTTER_NETWORK: address.slice(0, -1) });
    await once(child.stdout, "data");
    expect(JSON.parse(said.out)).toMatchObject({ SPOTTER_REPLICA_HOST: address });
    expect(asked).toEqual(["/late", "/late", "/late"]);
    child.kill("SIGTERM");
    expect(await code).toBe(7);
  });

  it.each([
    ["is not there", "/away", {}, "/away could not be fetched: it answered 503"],
    ["is another one", "/program", { SPOTTER_PROGRAM_SHA256: "0".repeat(64) }, "its SHA-256 is"],
  ])("whose program %s runs nothing, and says why", async (_what, path, changes, message) => {
    const { said, code } = start(path, "train-01ABC-1", changes);
    expect(await code).toBe(1);
    expect(said.out).toBe("");
    expect(said.errors).toMatch(/^container_failed: http/);
    expect(said.errors).toContain(message);
    expect(asked).toHaveLength(5);
  });
});

it("has nothing in its command that Batch would put something else for, and leaves room for the rest", () => {
  const command = nodeCommand().join(" ");
  expect(command).not.toContain("Ref::");
  // A task definition may have 64 kB, a job definition 24 kB.
  expect(command.length).toBeLessThan(6_000);
  expect(command).toContain(
    readFileSync(join(import.meta.dirname, "../../infra/bootstrap/fetch-program.mjs"), "utf8"),
  );
});
