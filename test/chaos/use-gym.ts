import { afterAll, beforeAll, expect } from "vitest";
import type { Facts } from "./facts.ts";
import { openGym, type Gym } from "./gym.ts";
import { undisturbed } from "./trial.ts";
import type { Reference } from "./verify.ts";

/** What the tests of a file happen to. */
export interface Scene {
  readonly gym: Gym;
  /** What the work comes to when nobody disturbs it. */
  readonly reference: Reference;
  /** What was told meanwhile. */
  readonly facts: Facts;
}

/** A gym for all tests of a file, in which the work was done once undisturbed. Nothing of it may outlive them. */
export function useGym(): Scene {
  let gym: Gym | undefined;
  let undisturbedWork: (Reference & { facts: Facts }) | undefined;

  beforeAll(async () => {
    gym = await openGym();
    undisturbedWork = await undisturbed(gym);
  }, 60_000);

  afterAll(async () => expect(await gym?.close()).toEqual([]), 60_000);

  return {
    get gym() {
      return opened(gym);
    },
    get reference() {
      return opened(undisturbedWork);
    },
    get facts() {
      return opened(undisturbedWork).facts;
    },
  };
}

function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("The gym is not open yet.");
  return part;
}
