import { createColors } from "picocolors";
import type { Writable } from "node:stream";
import { table } from "./render/table.ts";
import { composed, plainJson } from "./render/visible.ts";
import { spotterCommand, withCommands } from "./spotter-command.ts";

export type Colors = ReturnType<typeof createColors>;

/** Where a command writes and what it heeds. Commands touch no global stream. */
export interface CliContext {
  out: Writable;
  err: Writable;
  /** Whether `out` is a terminal that can redraw a line. */
  isTerminal: boolean;
  /** Whether a person reads `out`. */
  isInteractive: boolean;
  /** `spotter ARGS` as it can be pasted here. */
  command: (args: string) => string;
  /** A hint with its commands as they can be pasted here. */
  hint: (text: string) => string;
  colors: Colors;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Text piped in, for commands that read it. */
  readInput: () => Promise<string>;
  /** The answer to a question, typed unseen at a terminal; without one, what is piped in. */
  readSecret: (question: string) => Promise<string>;
}

export interface CliStreams {
  out: Writable & { isTTY?: boolean };
  err: Writable;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  readInput: () => Promise<string>;
  readSecret?: CliContext["readSecret"];
}

export function createContext(streams: CliStreams): CliContext {
  const { out, err, env, signal, readInput } = streams;
  const isTerminal = out.isTTY === true && env.TERM !== "dumb" && !env.CI;
  // https://no-color.org: present and not empty means no colour, whatever its value.
  const isColored = out.isTTY === true && env.TERM !== "dumb" && !env.NO_COLOR;
  const { readSecret = async () => (await readInput()).replace(/\r?\n$/, "") } = streams;
  return {
    out,
    err,
    isTerminal,
    isInteractive: out.isTTY === true,
    command: (args) => spotterCommand(args, env),
    hint: (text) => withCommands(text, env),
    colors: createColors(isColored),
    signal,
    readInput,
    readSecret,
  };
}

/** One line on standard output; nothing in it but our own colours moves the terminal. */
export function print(context: CliContext, line = ""): void {
  context.out.write(`${composed(line)}\n`);
}

/** One JSON document on standard output, on one line. */
export function printJson(context: CliContext, value: unknown): void {
  context.out.write(`${plainJson(value)}\n`);
}

/** A table; where there is nothing to show a person, what would change that. */
export function printList(
  context: CliContext,
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  whenEmpty: string,
): void {
  if (rows.length === 0 && context.isInteractive) return teach(context, whenEmpty);
  for (const line of table(header, rows)) print(context, line);
}

/** A line for people, beside the output. */
export function teach(context: CliContext, line: string): void {
  context.err.write(`${composed(context.hint(line))}\n`);
}
