import cliProgress from "cli-progress";
import type { Writable } from "node:stream";
import { createColors } from "picocolors";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../run.ts";
import { advance, etaMs, figures, newProgress, type RunProgress } from "./run-progress.ts";
import { durationText } from "./time.ts";
import { oneLine, printable } from "./visible.ts";
import { waitingText } from "./waiting.ts";

export interface WatchRunParams {
  /** Default: standard output. */
  out?: Writable & { isTTY?: boolean };
  signal?: AbortSignal;
  /** Draw a bar that moves, or plain lines. Default: whether `out` is a terminal. */
  isTerminal?: boolean;
  /** Written before every plain line, for example two spaces. */
  indent?: string;
  /** Asked when it waits for capacity: the run that has it, where that is known. */
  waitsOn?: () => Promise<string | undefined>;
}

/** Plain lines come at least this often, and after every tenth of the steps. */
const LINE_EVERY_MS = 5_000;

/**
 * Shows a run until it ends: phases, a bar over the steps with reward, tokens per second and the time that is
 * left. Where it is not a terminal, a plain line now and then.
 *
 * @example
 * import { watchRun } from "spotter/render";
 * await watchRun(run);
 */
export async function watchRun(run: Run, params: WatchRunParams = {}): Promise<void> {
  const out = params.out ?? process.stdout;
  const isTerminal =
    params.isTerminal ?? (out.isTTY === true && process.env.TERM !== "dumb" && !process.env.CI);
  const view = isTerminal ? terminalView(out, run.steps) : plainView(out, params.indent ?? "");
  let progress = newProgress(run.steps);
  // Who passes a signal handles Ctrl-C; else the terminal must at least get its cursor back.
  const release = params.signal === undefined ? endOnInterrupt(() => view.end(progress)) : () => undefined;
  try {
    for await (const event of run.events({ signal: params.signal })) {
      const before = progress;
      progress = advance(progress, event);
      if (progress.waitingFor === "capacity" && before.waitingFor !== "capacity")
        progress = { ...progress, waitsOn: await params.waitsOn?.() };
      view.show(progress, before, event);
    }
  } finally {
    release();
    view.end(progress);
  }
}

/** Tidies up on Ctrl-C and lets it end the process as it would have. */
function endOnInterrupt(tidyUp: () => void): () => void {
  const onInterrupt = () => {
    tidyUp();
    if (process.listenerCount("SIGINT") === 0) process.kill(process.pid, "SIGINT");
  };
  process.once("SIGINT", onInterrupt);
  return () => process.removeListener("SIGINT", onInterrupt);
}

interface View {
  show(progress: RunProgress, before: RunProgress, event: RunEvent): void;
  end(progress: RunProgress): void;
}

function terminalView(out: Writable, steps: number): View {
  const { dim, green, yellow } = createColors(!process.env.NO_COLOR);
  const bar = new cliProgress.SingleBar({
    format: `{bar} step {value}/{total}  {line}`,
    stream: out,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    barsize: 24,
    hideCursor: true,
    clearOnComplete: false,
    // Its own handler would swallow the first Ctrl-C.
    gracefulExit: false,
    autopadding: true,
  });
  bar.start(steps, 0, { line: dim("queued") });
  return {
    show(progress, before, { body }) {
      if (body.type === "log" && body.level !== "debug" && body.level !== "info") {
        bar.stop();
        out.write(`${yellow(body.level)} ${printable(body.message)}\n`);
        bar.start(steps, progress.step, { line: lineOf(progress) });
      } else if (progress !== before) {
        bar.update(progress.step, { line: lineOf(progress) });
      }
    },
    end(progress) {
      const line = progress.state === "succeeded" ? green(lineOf(progress)) : lineOf(progress);
      bar.update(progress.step, { line });
      bar.stop();
    },
  };
}

function plainView(out: Writable, indent: string): View {
  let shownAtMs = -Infinity;
  let shownTenth = 0;
  let shown = "";
  const write = (progress: RunProgress, atMs: number) => {
    const line = `${indent}step ${progress.step}/${progress.steps}  ${lineOf(progress)}`;
    if (line !== shown) out.write(`${line}\n`);
    shown = line;
    shownAtMs = atMs;
    shownTenth = tenthOf(progress);
  };
  return {
    show(progress, before, { atMs, body }) {
      if (body.type === "log" && body.level !== "debug" && body.level !== "info") {
        out.write(`${indent}${body.level}: ${printable(body.message)}\n`);
      }
      const isNews = progress.state !== before.state || progress.waitingFor !== before.waitingFor;
      if (isNews || atMs - shownAtMs >= LINE_EVERY_MS || tenthOf(progress) > shownTenth)
        write(progress, atMs);
    },
    end(progress) {
      write(progress, shownAtMs);
    },
  };
}

function lineOf(progress: RunProgress): string {
  const left = etaMs(progress);
  const words = [...wordsOf(progress), ...figures(progress)];
  return oneLine([...words, ...(left ? [`${durationText(Math.max(1_000, left))} left`] : [])].join("  "));
}

/** While it runs the phase says more than the state. */
function wordsOf({ state, phase, waitingFor, waitsOn }: RunProgress): string[] {
  if (state === "running" && phase) return [phase];
  return [waitingFor ? `${state} (${waitingText(waitingFor, waitsOn)})` : state];
}

function tenthOf({ step, steps }: RunProgress): number {
  return Math.floor((step / Math.max(1, steps)) * 10);
}
