import * as z from "zod/mini";
import { nonNegativeInt } from "./common.ts";

const command = z.array(z.string()).check(z.minLength(1));

/**
 * What a container with an engine of its own has to do, in that engine's own words: the command, its environment,
 * the files it reads. Words in `{{spotter.NAME}}` are places that only the container knows; engine/python/
 * spotter_agent/places.py lists them.
 */
export const nativePlan = z.object({
  engine: z.enum(["vllm", "slime"]),
  /** Written below the work folder before anything runs. */
  files: z._default(z.array(z.object({ path: z.string(), content: z.string() })), []),
  env: z._default(z.record(z.string(), z.string()), {}),
  /** Commands of a shell that change the image first: what a user's image overlay asks for. */
  overlay: z._default(z.array(z.string()), []),
  /** Commands that have to succeed before the engine starts. */
  before: z._default(z.array(command), []),
  /**
   * Programs that write weights in another format. `toMegatron`: of what the run starts from, by a job of its own before
   * the first attempt; what it writes is kept for later runs. `toHf`: of a checkpoint
   * that has no Hugging Face weights, by a job of its own beside the training.
   */
  conversions: z._default(z.object({ toMegatron: z.optional(command), toHf: z.optional(command) }), {}),
  argv: command,
  /** Steps that earlier runs made and this one goes on from: the engine counts them, this run does not. */
  startedSteps: z._default(nonNegativeInt, 0),
});
export type NativePlan = z.infer<typeof nativePlan>;
