import { setTimeout as delay } from "node:timers/promises";
import type { Gym } from "./gym.ts";
import { killHard, livingContainers, programOf } from "./processes.ts";
import type { Blow } from "./plan.ts";

export const VICTIMS = ["daemon", "trainer", "server", "script"] as const;
export type Victim = (typeof VICTIMS)[number];

const KINDS = { trainer: "train", server: "serve" } as const;

/** kill -9 of the daemon, and the next one a moment later. */
export async function strikeDaemon(gym: Gym, blow: Blow): Promise<boolean> {
  await gym.daemon().kill();
  await delay(blow.pauseMs);
  await gym.revive();
  return true;
}

/**
 * kill -9 of a container: of its program alone, or of its whole group, shell and all. Waits for one to live
 * until the signal says that there will be none.
 */
export async function strikeContainer(
  gym: Gym,
  victim: "trainer" | "server",
  blow: Blow,
  over: AbortSignal,
): Promise<boolean> {
  while (!over.aborted) {
    const container = livingContainers(gym.home).find(({ kind }) => kind === KINDS[victim]);
    const program = container && programOf(container);
    if (container && program !== undefined) {
      gym.groups.add(container.pid);
      return killHard(blow.whole ? -container.pid : program);
    }
    await delay(10);
  }
  return false;
}
