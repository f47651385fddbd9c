import { existsSync, readFileSync } from "node:fs";
import type { LocalContainers } from "../../../functions/local/local-containers.ts";
import {
  openProcessContainers,
  type ProcessContainersOptions,
} from "../../../functions/local/process-containers.ts";
import { systemClock } from "../../../functions/system/system-clock.ts";

const program = new URL("../../fixtures/local/container.ts", import.meta.url);

const fail = (message: string, fields?: Record<string, unknown>) => {
  throw new Error(`${message} ${JSON.stringify(fields)}`);
};
/** Nothing is to be told. */
export const failingLog = { debug: fail, info: fail, warn: fail, error: fail };

/** Containers whose program does what its job token says (test/fixtures/local/container.ts). */
export async function openContainers(
  home: string,
  options: Partial<ProcessContainersOptions> = {},
): Promise<LocalContainers> {
  return await openProcessContainers({
    home,
    programs: { serve: program, train: program, eval: program },
    clock: systemClock(),
    log: failingLog,
    ...options,
  });
}

export function environmentFor(actions: string) {
  return { SPOTTER_URL: "http://127.0.0.1:1", SPOTTER_JOB_ID: "job", SPOTTER_JOB_TOKEN: actions };
}

/** A killed process that its parent has not collected yet still has its number, but is dead. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc") || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
