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

it("is all that is closed where the folder is also of others", () => {
  mkdirSync(folder("home"));
  const own = [
    "state.db-wal",
    "daemon.json.1234.part",
    "daemon-start.log",
    "backup-1234",
    "stopped",
    "cache",
  ];
  const others = [".X11-unix", "blobs.txt", "work", "src", "backup-of-mine", "states.db"];
  for (const name of [...own, ...others]) {
    mkdirSync(folder("home", name));
    chmodSync(folder("home", name), 0o1777);
  }
  closeHome(folder("home"));
  for (const name of own) expect(modeOf("home", name)).toBe(0o700);
  for (const name of others) expect(statSync(folder("home", name)).mode & 0o7777).toBe(0o1777);
});
