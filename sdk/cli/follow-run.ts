import type { Run, RunResult } from "../run.ts";
import { type CliContext, print } from "./context.ts";
import { occupantOf } from "./render/waiting.ts";
import { watchRun } from "./render/watch-run.ts";

/** Shows a run until it ends, and what may be done then. Whoever stops looking is told that it goes on. */
export async function followRun(context: CliContext, run: Run): Promise<void> {
  const { signal, out, isTerminal } = context;
  const { id } = run;
  try {
    await watchRun(run, { out, isTerminal, signal, waitsOn: () => occupantOf(id, signal) });
  } catch (error) {
    if (signal.aborted)
      context.err.write(`\n${id} goes on. Look again: ${context.command(`run watch ${id}`)}\n`);
    throw error;
  }
  printServe(context, await run.result({ signal }));
}

/** How the last checkpoint of a run is served. */
export function printServe(context: CliContext, result: RunResult): void {
  const last = result.checkpoints().at(-1);
  if (!last) return;
  const launch = `endpoint launch ${result.run.model} --checkpoint ${last.id}`;
  print(context, `Serve it: ${context.command(launch)}`);
}
