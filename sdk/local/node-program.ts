import { existsSync } from "node:fs";
import { join } from "node:path";
import { SpotterError } from "../schema/errors.ts";
import { packageRoot } from "./home.ts";

/** The oldest Node the daemon runs under: `engines` of package.json. */
const OLDEST = [22, 19] as const;

/** The Node that runs this process if it is new enough, else the one that came with the package. */
export function nodeProgram(version = process.versions.node, root = packageRoot()): string {
  if (isNewEnough(version)) return process.execPath;
  const bundled = join(root, "node_modules", "node", "bin", "node");
  if (existsSync(bundled)) return bundled;
  throw new SpotterError(
    "node_too_old",
    `This is Node ${version}; the daemon needs ${OLDEST.join(".")} or newer.`,
    {
      hint: "Install a newer Node from https://nodejs.org, or run `npm install node@24` in your project.",
    },
  );
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/**
 * Flags of Node for a daemon. Its young objects live as long as a request: by default V8 would keep 128 MB for
 * them once the gateway was busy, and with a quarter of that it is no slower.
 */
export const DAEMON_FLAGS: readonly string[] = ["--no-warnings", "--max-semi-space-size=16"];
