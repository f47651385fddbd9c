import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fileScratch } from "../../../functions/local/file-scratch.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

it("lists caches file by file, with when each was last used, and nothing else", async () => {
  mkdirSync(folder("cache", "files"), { recursive: true });
  writeFileSync(folder("cache", "files", "a"), "12345");
  utimesSync(folder("cache", "files", "a"), 50, 20);
  writeFileSync(folder("daemon.log.1"), "old");
  writeFileSync(folder("state.db"), "never");
  writeFileSync(folder("secrets.json"), "never");
  const scratch = fileScratch(folder());
  const entries = (await scratch.list()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(entries.map(({ name, bytes }) => [name, bytes])).toEqual([
    ["cache/files/a", 5],
    ["daemon.log.1", 3],
  ]);
  expect(entries[0]?.usedAtMs).toBe(50_000);
  for (const { name } of entries) await scratch.remove(name);
  expect(await scratch.list()).toEqual([]);
  await scratch.remove("cache/files/a");
});

it("has nothing where there is nothing", async () => {
  expect(await fileScratch(folder()).list()).toEqual([]);
});
