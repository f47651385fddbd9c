import { describe, expect, it } from "vitest";
import { Client, Key } from "../../sdk/index.ts";
import { findDaemon } from "../../sdk/local/find-daemon.ts";
import { packageVersion } from "../../sdk/local/home.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

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
});
