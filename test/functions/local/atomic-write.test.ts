import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { atomicWrite } from "../../../functions/local/atomic-write.ts";
import { useFolder } from "./use-folder.ts";

const at = useFolder();

it("replaces a file, and says where a folder lies in its place", () => {
  const path = at("new", "daemon.owner");
  atomicWrite(path, "1\n");
  atomicWrite(path, "2\n");
  expect(readFileSync(path, "utf8")).toBe("2\n");
  mkdirSync(at("folder"));
  expect(() => atomicWrite(at("folder"), "3\n")).toThrow(
    expect.objectContaining({ code: "state_unreadable", where: at("folder") }) as Error,
  );
  expect(readdirSync(at()).sort()).toEqual(["folder", "new"]);
});
