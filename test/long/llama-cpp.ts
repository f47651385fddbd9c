import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const PEER = join(import.meta.dirname, "../../bench/peers/llama-cpp");

/** What llama.cpp makes of a text, and how it goes on: tokens of the prompt, and the likeliest ones after it. */
export interface LlamaCppAnswer {
  prompt: number[];
  ids: number[];
}

/** Undefined, with the reason printed, where the bench has not installed the peer. */
export function llamaCppInstalled(): boolean {
  if (existsSync(join(PEER, "node_modules"))) return true;
  process.stdout.write("llama.cpp is skipped: `npm ci` in bench/peers/llama-cpp brings it\n");
  return false;
}

/** The greedy continuation of a text, in which names of control tokens are these. */
export function askLlamaCpp(path: string, text: string, count: number): LlamaCppAnswer {
  const words = [join(PEER, "greedy.mjs"), path, text, String(count)];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: PEER, encoding: "utf8" });
  if (status !== 0) throw new Error(`llama.cpp ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as LlamaCppAnswer;
}
