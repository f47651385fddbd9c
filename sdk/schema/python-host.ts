import * as z from "zod/mini";
import { errorBody } from "./errors.ts";
import { jobCallsReply, toolDefinition } from "./job.ts";
import { verdict } from "./rollout.ts";
import { pythonSetup } from "./setups.ts";
import { pythonBundle } from "./user-code.ts";

/** First line for the program that runs Python code of a project that is tried: what to run, and how. */
export const pythonHostSetup = z.strictObject({
  bundle: pythonBundle,
  code: z.omit(pythonSetup, { code: true }),
  secrets: z.record(z.string(), z.string()),
  /** Environments with what requirements.txt names are kept here. */
  cacheFolder: z.string(),
});
export type PythonHostSetup = z.infer<typeof pythonHostSetup>;

/** Its answer to that. */
export const pythonHostReady = z.union([
  z.object({ rewards: z.array(z.string()), tools: z.array(toolDefinition) }),
  errorBody,
]);

/** Answers to all other lines: to `{ id, rows }` verdicts, to `{ id, calls, row }` results. */
export const pythonHostReply = z.union([
  z.object({ id: z.number(), verdicts: z.array(verdict) }),
  z.object({ id: z.number(), ...jobCallsReply.shape }),
  z.object({ id: z.number(), ...errorBody.shape }),
]);
export type PythonHostReply = z.infer<typeof pythonHostReply>;
