import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { closeHome } from "../../../functions/local/close-home.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();
const modeOf = (...names: string[]) => statSync(folder(...names)).mode & 0o777;

it("is closed to all but the owner, who keeps what was allowed", () => {
  mkdirSync(folder("home", "blobs"), { recursive: true });
  writeFileSync(folder("home", "state.db"), "");
  for (const [name, mode] of [
    ["", 0o755],
    ["blobs", 0o755],
    ["state.db", 0o464],
  ] as const)
    chmodSync(folder("home", name), mode);
  closeHome(folder("home"));
  expect(["", "blobs", "state.db"].map((name) => modeOf("home", name))).toEqual([0o755, 0o700, 0o400]);
});

it("leaves alone what links lead to, and links that lead nowhere", () => {
  mkdirSync(folder("home"));
  mkdirSync(folder("elsewhere"));
  chmodSync(folder("elsewhere"), 0o755);
  symlinkSync(folder("elsewhere"), folder("home", "blobs"));
  symlinkSync(folder("nowhere"), folder("home", "cache"));
  closeHome(folder("home"));
  expect(modeOf("elsewhere")).toBe(0o755);
});
