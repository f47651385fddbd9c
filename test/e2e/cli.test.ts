import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { Client, Key } from "../../sdk/index.ts";
import { findDaemon } from "../../sdk/local/find-daemon.ts";
import { packageVersion } from "../../sdk/local/home.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

const bin = fileURLToPath(new URL("../../sdk/cli/bin.ts", import.meta.url));
const json = async (line: string) =>
  JSON.parse((await runCli(`${line} --json`)).out) as Record<string, unknown>;

describe("the command line and a real daemon", () => {
  const { home } = ownHome();

  it("looks without starting anything", async () => {
    expect(await json("status")).toEqual({ running: false, home });
    expect(await json("down")).toEqual({ stopped: false, home });
  });

  it("makes a daemon that a script started one that stays", async () => {
    await Client.default().connection();
    expect((await findDaemon(home))?.idleExitMs).toBe(600_000);
    const up = await json("up");
    expect(up).toMatchObject({ home, version: packageVersion(), idleExitMs: null });
    expect(await json("up")).toEqual(up);
    expect(await json("status")).toMatchObject({
      running: true,
      url: up.url,
      home,
      activeRuns: 0,
      endpoints: 0,
    });
  });

  it("opens pages with a link that works once", async () => {
    const { url } = await json("open");
    expect((await fetch(String(url))).status).toBe(200);
    expect((await fetch(String(url))).status).toBe(401);
  });

  it("keeps keys and secrets", async () => {
    const created = (await json("key create web --scope write")) as { key: string; record: { id: string } };
    const { url } = await Client.default().connection();
    const client = new Client({ url, key: created.key, maxAttempts: 1 });
    await expect(Key.list({ client })).rejects.toMatchObject({ code: "forbidden" });
    await runCli(`key revoke ${created.record.id}`);
    await expect(Key.list({ client })).rejects.toMatchObject({ code: "unauthorized" });
    await runCli("secret set JUDGE_KEY", { input: "s3cret\n" });
    expect((await runCli("secret list")).out).toBe("JUDGE_KEY\n");
    expect(await runCli("secret remove NOPE")).toMatchObject({ code: 2 });
  });

  it("stops it", async () => {
    expect(await json("down")).toEqual({ stopped: true, home });
    expect(await findDaemon(home)).toBeUndefined();
  });

  it("names what is wrong with what it is given, exit code 2", async () => {
    const other = createServer((_, response) => void response.end("not Spotter"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    try {
      const busy = await runCli(`up --port ${port} --json`);
      expect(busy.code).toBe(2);
      expect(JSON.parse(busy.out)).toMatchObject({ error: { code: "port_busy", kind: "user" } });
    } finally {
      other.close();
    }
    expect(await findDaemon(home)).toBeUndefined();
    const folder = JSON.parse((await runCli(["endpoint", "launch", home, "--json"])).out) as object;
    expect(folder).toMatchObject({ error: { code: "model_not_found", where: home } });
    expect((await runCli("up --port many")).code).toBe(2);
  });

  it("stays in the terminal if asked to, and ends with Ctrl-C", async () => {
    const child = spawn(process.execPath, ["--no-warnings", bin, "up", "--foreground", "--port", "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await vi.waitFor(async () => expect(await findDaemon(home)).toBeDefined(), 10_000);
    child.kill("SIGINT");
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(130);
    await vi.waitFor(async () => expect(await findDaemon(home)).toBeUndefined(), 10_000);
  });
});
