import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FileBlobs } from "../../../functions/local/file-blobs.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

it("keeps a blob at its location, as a plain file", async () => {
  const blobs = new FileBlobs(folder("blobs"));
  await blobs.put("checkpoints/run/20/config.json", Buffer.from("{}"));
  expect(readFileSync(blobs.location("checkpoints/run/20/config.json"), "utf8")).toBe("{}");
  expect(readdirSync(blobs.location("checkpoints/run/20/"))).toEqual(["config.json"]);
});

it("imports by hard link, and follows a symbolic one", async () => {
  const blobs = new FileBlobs(folder("blobs"));
  writeFileSync(folder("model.bin"), "weights");
  symlinkSync(folder("model.bin"), folder("alias.bin"));
  await blobs.import("model.bin", folder("alias.bin"));
  expect(statSync(blobs.location("model.bin")).ino).toBe(statSync(folder("model.bin")).ino);
});

it("leaves nothing behind of what failed or was interrupted", async () => {
  const blobs = new FileBlobs(folder("blobs"));
  await expect(blobs.put("k", Buffer.from("x"), { sha256: "0".repeat(64) })).rejects.toThrow();
  expect(readdirSync(folder("blobs", "incoming"))).toEqual([]);
  writeFileSync(folder("blobs", "incoming", "half"), "written by a process that was killed");
  expect(await new FileBlobs(folder("blobs")).list("")).toEqual([]);
  expect(readdirSync(folder("blobs", "incoming"))).toEqual([]);
});

it("removes the folders that a deletion empties", async () => {
  const blobs = new FileBlobs(folder("blobs"));
  await blobs.put("a/b/one", Buffer.from("1"));
  await blobs.put("a/c/two", Buffer.from("2"));
  await blobs.delete("a/b/one");
  expect(readdirSync(blobs.location("a"))).toEqual(["c"]);
  await blobs.delete("a/c/two");
  expect(readdirSync(folder("blobs", "objects"))).toEqual([]);
});

it("survives deletions and writes in one folder at the same time", async () => {
  const blobs = new FileBlobs(folder("blobs"));
  for (let round = 0; round < 20; round++) {
    await blobs.put("d/old", Buffer.from("old"));
    await Promise.all([blobs.delete("d/old"), blobs.put("d/new", Buffer.from("new"))]);
    expect(Buffer.from((await blobs.bytes("d/new")) ?? []).toString()).toBe("new");
    await blobs.delete("d/new");
  }
});

it("says which key stands in the way of another", async () => {
  const blobs = new FileBlobs(folder("blobs"));
  await blobs.put("a", Buffer.from("file"));
  await expect(blobs.put("a/b", Buffer.from("x"))).rejects.toMatchObject({ code: "conflict" });
  await blobs.put("c/d", Buffer.from("file"));
  await expect(blobs.put("c", Buffer.from("x"))).rejects.toMatchObject({ code: "conflict" });
  expect(await blobs.get("c")).toBeUndefined();
});

it("refuses a root that cannot be", () => {
  writeFileSync(folder("file"), "");
  expect(() => new FileBlobs(folder("file", "blobs"))).toThrow(
    expect.objectContaining({ code: "state_unreadable" }) as Error,
  );
});
