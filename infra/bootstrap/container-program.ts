import { readFileSync } from "node:fs";

/** A program that containers fetch when they start: a .tar.gz, and what it has to hash to. */
export interface Program {
  /** Answers without credentials, within the network of the stack. */
  url: string;
  sha256: string;
  /**
   * Path in the archive; `{kind}` is what the job's id begins with: serve, train or eval. Of a program in Python the
   * name of its module.
   */
  entry: string;
}

/** User and group of containers, which images of Node have: a host refuses both what is the host's own. */
export const CONTAINER_UID = 1000;
export const CONTAINER_GID = 1000;

/**
 * What root in a container could leave its group with, or write to a network past it. Gone before anything of a user
 * runs, and with it the way back: a host tells containers by their group.
 */
const NEVER = ["setuid", "setgid", "setpcap", "setfcap", "net_raw", "mknod", "sys_chroot"];

/** What every container of the stack knows besides its job. */
export interface Surroundings {
  /** What addresses in the network begin with, such as `10.42.`. */
  network: string;
}

/**
 * Command for an image of Node.
 *
 * @example nodeCommand() // ["node", "--input-type=module", "--eval", "..."]
 */
export function nodeCommand(): string[] {
  const script = readFileSync(new URL("fetch-program.mjs", import.meta.url), "utf8");
  return ["node", "--input-type=module", "--eval", script];
}

/**
 * Command for an image with `python3`, 3.9 or newer.
 *
 * @param isRoot Of an image that works for its root alone: it gives up what it does not need (`setpriv`, which images
 *   of Debian and Ubuntu have).
 * @example pythonCommand({ isRoot: false }) // ["python3", "-c", "..."]
 */
export function pythonCommand({ isRoot }: { isRoot: boolean }): string[] {
  const script = readFileSync(new URL("fetch_program.py", import.meta.url), "utf8");
  const without = NEVER.map((each) => `-${each}`).join(",");
  const less = ["setpriv", `--bounding-set=${without}`, `--inh-caps=${without}`, "--no-new-privs"];
  return [...(isRoot ? less : []), "python3", "-c", script];
}

/** Variables that the command needs; those of a job come with the job. */
export function programVariables(
  { url, sha256, entry }: Program,
  { network }: Surroundings,
): { name: string; value: string }[] {
  return Object.entries({
    SPOTTER_PROGRAM_URL: url,
    SPOTTER_PROGRAM_SHA256: sha256,
    SPOTTER_PROGRAM_ENTRY: entry,
    SPOTTER_NETWORK: network,
  }).map(([name, value]) => ({ name, value }));
}
