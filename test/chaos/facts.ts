import { setTimeout as delay } from "node:timers/promises";
import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { RunEvent } from "../../sdk/schema/event.ts";
import { Endpoint, Run } from "../../sdk/index.ts";
import type { Gym } from "./gym.ts";

const ASK_EVERY_MS = 20;
const PROMPTS = ["Write about rain.", "Write about snow.", "Write about moss."];

/** What somebody was told during a trial, and so may rely on. */
export interface Facts {
  runId: string;
  events: RunEvent[];
  /** Checkpoints as they were when they were announced. */
  checkpoints: Checkpoint[];
  /** Answers of the endpoint, by the number of the prompt. */
  answers: { prompt: number; text: string }[];
}

/** Follows a run to its end and writes down everything that is acknowledged on the way. */
export async function watchRun(gym: Gym, runId: string, onEvent: (event: RunEvent) => void): Promise<Facts> {
  const run = await Run.get(runId, gym);
  const facts: Facts = { runId, events: [], checkpoints: [], answers: [] };
  for await (const event of run.events()) {
    facts.events.push(event);
    onEvent(event);
    const { body } = event;
    if (body.type !== "checkpoint") continue;
    // The control plane may be away just now; what it does not answer was not acknowledged.
    const known = await run.checkpoints().catch(() => []);
    for (const { record } of known)
      if (!facts.checkpoints.some(({ id }) => id === record.id)) facts.checkpoints.push(record);
  }
  return facts;
}

/** Asks the endpoint one question after the other until told to stop. Same question, same answer. */
export async function keepAsking(gym: Gym, signal: AbortSignal): Promise<Facts["answers"]> {
  const answers: Facts["answers"] = [];
  for (let prompt = 0; !signal.aborted; prompt = (prompt + 1) % PROMPTS.length) {
    const text = await ask(gym, prompt).catch(() => undefined);
    if (text !== undefined) answers.push({ prompt, text });
    // Both cores belong to the work: who asks without end would only make it slow.
    await delay(ASK_EVERY_MS);
  }
  return answers;
}

/** An answer that depends on the weights, the prompt and the seed only. */
export async function ask(gym: Gym, prompt: number): Promise<string> {
  const endpoint = await Endpoint.get(gym.endpoint, gym);
  const content = PROMPTS[prompt] ?? "";
  const options = { max_tokens: 12, temperature: 1, seed: prompt };
  return (await endpoint.chat([{ role: "user", content }], options)).content;
}
