import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { SqliteStore } from "../../../functions/local/sqlite-store.ts";
import { SCHEMA_VERSION } from "../../../functions/local/sqlite-store/migrations.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();
const writer = join(import.meta.dirname, "../../fixtures/local/store-writer.ts");
const open = (path: string) => new SqliteStore(path);

function codeOf(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("several processes on one file", () => {
  it("lose no update and no event", async () => {
    const path = folder("state.db");
    const children = ["a", "b"].map((name) =>
      spawn(process.execPath, [writer, path, name, "100"], { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
    expect(codes).toEqual([0, 0]);
    const store = open(path);
    expect(await store.get({ partition: "counter", sort: "total" })).toMatchObject({
      value: 200,
      version: 200,
    });
    const events = await store.read("events", 0, 1000);
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
    await store.close();
  });

  it("keep all that was acknowledged when one is killed", async () => {
    const path = folder("state.db");
    const child = spawn(process.execPath, [writer, path, "a", "1000000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let acknowledged = 0;
    for await (const chunk of child.stdout) {
      const lines = String(chunk).trimEnd().split("\n");
      acknowledged += lines.length;
      if (acknowledged > 50) break;
    }
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    const store = open(path);
    const counter = await store.get<number>({ partition: "counter", sort: "total" });
    expect(counter?.value).toBeGreaterThanOrEqual(acknowledged);
    expect((await store.read("events", 0, 100_000)).length).toBeGreaterThanOrEqual(acknowledged);
    await store.close();
  });
});

describe("the file", () => {
  it("keeps documents and streams over a restart", async () => {
    const path = folder("deep", "state.db");
    const first = open(path);
    await first.put({ partition: "p", sort: "s" }, { kept: true });
    await first.append("stream", [1, 2]);
    await first.close();
    const second = open(path);
    expect(await second.get({ partition: "p", sort: "s" })).toMatchObject({
      value: { kept: true },
      version: 1,
    });
    expect(await second.append("stream", [3])).toBe(3);
    await second.close();
  });

  it("is in WAL mode and carries the schema version", async () => {
    const path = folder("state.db");
    await open(path).close();
    const database = new DatabaseSync(path);
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: SCHEMA_VERSION });
    database.close();
  });

  it("of a newer version is refused and stays as it is", async () => {
    const path = folder("state.db");
    await open(path).close();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 99");
    expect(codeOf(() => open(path))).toMatchObject({
      code: "state_too_new",
      where: path,
      message: expect.stringContaining("99") as string,
    });
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
    database.close();
  });

  it("that is no database is refused with the remedy", () => {
    const path = folder("state.db");
    writeFileSync(path, "this is not a database, however long it may be".repeat(100));
    expect(codeOf(() => open(path))).toMatchObject({
      code: "state_unreadable",
      where: path,
      hint: expect.stringContaining("backup") as string,
    });
  });

  it("in a place that cannot be written is refused with the remedy", () => {
    writeFileSync(folder("file"), "");
    mkdirSync(folder("directory.db"));
    for (const path of [folder("file", "state.db"), folder("directory.db")]) {
      expect(codeOf(() => open(path))).toMatchObject({
        code: "state_unreadable",
        hint: expect.stringContaining("SPOTTER_HOME") as string,
      });
    }
  });

  it("on a full disk says so, and what was stored stays readable", async () => {
    const path = folder("state.db");
    // SQLite reports a file at its limit as it reports a full disk.
    const store = new SqliteStore(path, { maxMiB: 0.25 });
    await store.put({ partition: "p", sort: "before" }, "kept");
    const large = "x".repeat(300_000);
    await expect(store.put({ partition: "p", sort: "large" }, large)).rejects.toMatchObject({
      code: "disk_full",
      status: 507,
    });
    await expect(store.append("s", [large])).rejects.toMatchObject({ code: "disk_full" });
    expect(await store.get({ partition: "p", sort: "before" })).toMatchObject({ value: "kept" });
    expect(await store.get({ partition: "p", sort: "large" })).toBeUndefined();
    await store.put({ partition: "p", sort: "small" }, "fits");
    await store.close();
  });
});

it("writes durably on request", async () => {
  const store = new SqliteStore(folder("state.db"), { synchronous: "full" });
  expect(await store.put({ partition: "p", sort: "s" }, 1)).toBe(1);
  await store.close();
});
