import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** When and how something is killed. */
export interface Blow {
  /** Once this many events of the run were seen; 0: from the launch on. */
  afterEvents: number;
  /** And this much later. */
  delayMs: number;
  /** Time until a killed daemon or script is started again. */
  pauseMs: number;
  /** The whole process group of a container, or only its program. */
  whole: boolean;
}

/** Equal seeds, equal plans. */
export function planOf(seed: number, blows: number, events: number): Blow[] {
  const random = xoroshiro128plus(seed);
  return Array.from({ length: blows }, () => ({
    afterEvents: uniformInt(random, 0, events - 1),
    delayMs: uniformInt(random, 0, 250),
    pauseMs: uniformInt(random, 0, 400),
    whole: uniformInt(random, 0, 1) === 1,
  })).sort((a, b) => a.afterEvents - b.afterEvents);
}

/** SPOTTER_CHAOS_SEED, else another one each time. */
export function chosenSeed(): number {
  const given = process.env.SPOTTER_CHAOS_SEED;
  if (given === undefined || given === "") return Date.now() % 2 ** 31;
  if (/^\d{1,10}$/.test(given) && Number(given) < 2 ** 31) return Number(given);
  throw new Error(`SPOTTER_CHAOS_SEED is ${JSON.stringify(given)}, expected a whole number below 2^31.`);
}
