import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { RunEvent } from "../../sdk/schema/event.ts";
import type { Gym } from "./gym.ts";

const file = fileURLToPath(new URL("script.ts", import.meta.url));
const hooks = fileURLToPath(new URL("../fixtures/sdk/from-source.ts", import.meta.url));

/** What one script said before it ended or was killed. */
export interface ScriptProcess {
  /** The id of its run, as soon as it says it; undefined if it ends without. */
  launched: Promise<string | undefined>;
  events: RunEvent[];
  kill(): boolean;
  /** Resolves to the state it said the run ended in; undefined if it did not come to that. */
  ended: Promise<string | undefined>;
}

/** Starts a script that launches the work, or looks at a run that is known. */
export function startScript(gym: Gym, known: string | undefined): ScriptProcess {
  const args = ["--no-warnings", "--import", hooks, file, gym.model, ...(known === undefined ? [] : [known])];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, SPOTTER_URL: gym.url, SPOTTER_API_KEY: gym.key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const events: RunEvent[] = [];
  const launched = Promise.withResolvers<string | undefined>();
  let state: string | undefined;
  createInterface(child.stdout).on("line", (line) => {
    const said = JSON.parse(line) as { launched?: string; event?: RunEvent; ended?: string };
    if (said.launched !== undefined) launched.resolve(said.launched);
    if (said.event !== undefined) events.push(said.event);
    state ??= said.ended;
  });
  const ended = once(child, "close").then(() => {
    launched.resolve(undefined);
    return state;
  });
  return { launched: launched.promise, events, ended, kill: () => child.kill("SIGKILL") };
}

export interface ScriptTrial {
  runId: string;
  /** What all the scripts were told. */
  events: RunEvent[];
  killed: number;
}

/** Kills the script of a run at each of the given times after its start; the next one goes on looking. */
export async function scriptThroughBlows(
  gym: Gym,
  blows: readonly { afterMs: number; pauseMs: number }[],
): Promise<ScriptTrial> {
  const events: RunEvent[] = [];
  let runId: string | undefined;
  let killed = 0;
  for (const blow of [...blows, undefined]) {
    const script = startScript(gym, runId);
    if (blow !== undefined) {
      await Promise.race([delay(blow.afterMs), script.ended]);
      if (script.kill()) killed++;
    }
    await script.ended;
    runId ??= await script.launched;
    events.push(...script.events);
    if (blow !== undefined) await delay(blow.pauseMs);
  }
  if (runId === undefined) throw new Error("The last script ended without a run.");
  return { runId, events, killed };
}
