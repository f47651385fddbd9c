import { readFileSync } from "node:fs";

/** A program that containers fetch when they start: a .tar.gz, and what it has to hash to. */
export interface Program {
  /** Answers without credentials, within the network of the stack. */
  url: string;
  sha256: string;
  /** Path in the archive; `{kind}` is what the job's id begins with: serve, train or eval. */
  entry: string;
}

/** User of every container, which images of Node have: a host refuses it what is the host's own. */
export const CONTAINER_UID = 1000;

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
