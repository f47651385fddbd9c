import { spawnSync } from "node:child_process";

const found = spawnSync("python3", ["-c", "import sys; print(sys.version_info >= (3, 9))"], {
  encoding: "utf8",
});
export const hasPython = found.stdout?.trim() === "True";
if (!hasPython)
  process.stderr.write("skipped: there is no python3 of version 3.9 or newer on this machine\n");
