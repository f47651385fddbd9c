import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const preload = new URL("../fixtures/sdk/from-source.ts", import.meta.url).href;

export interface HaikuScore {
  mean: number;
  low: number;
  high: number;
  n: number;
  topicShare: number;
}

/** What `run.ts --json` prints last. */
export interface HaikuResult {
  base: HaikuScore;
  trained: HaikuScore;
  continued: HaikuScore;
  seconds: number;
  runIds: string[];
}

/** Runs the haiku example from source and resolves to what it printed. */
export async function runHaiku(args: string[]): Promise<{ code: number; text: string; result: HaikuResult }> {
  const script = fileURLToPath(new URL("../../examples/haiku/run.ts", import.meta.url));
  const child = spawn(process.execPath, ["--no-warnings", "--import", preload, script, "--json", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    // As `npm run demo` does, however the tests themselves were started.
    env: { ...process.env, SPOTTER_PORT: "0", npm_lifecycle_event: "demo" },
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const [code] = (await once(child, "close")) as [number];
  return { code, text, result: JSON.parse(text.trim().split("\n").at(-1) ?? "") as HaikuResult };
}
