import type { SpotterError } from "../schema/errors.ts";
import { createContext, printJson, type CliContext, type CliStreams } from "./context.ts";
import { readHidden } from "./read-hidden.ts";
import { runRaw } from "./commands/rl-words.ts";
import { printable } from "./render/visible.ts";
import { soloProgram } from "./solo-program.ts";
import { Told } from "./told.ts";

/** Exit codes: done, failed, bad input, interrupted. */
const DONE = 0;
const FAILED = 1;
const BAD_INPUT = 2;
const INTERRUPTED = 130;

/** The command line: runs one command and resolves to its exit code. */
export async function main(words: readonly string[], streams: Partial<CliStreams> = {}): Promise<number> {
  const args = argumentsOf(words);
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort(new Error("Interrupted."));
  process.once("SIGINT", onInterrupt);
  const context = createContext({
    out: process.stdout,
    err: process.stderr,
    env: process.env,
    signal: interrupt.signal,
    readInput: readStandardInput,
    ...(process.stdin.isTTY &&
      streams.readInput === undefined && {
        readSecret: (question) => readHidden(question, process.stdin, process.stderr, interrupt.signal),
      }),
    ...streams,
  });
  try {
    if (await runRaw(context, args)) return DONE;
    const isJson = args.includes("--json");
    const solo = await soloProgram(context, args[0], isJson);
    const program = solo ?? (await import("./program.ts")).createProgram(context, isJson);
    const { withoutVainHelp } = await import("./usage-error.ts");
    await program.parseAsync(withoutVainHelp(program, args), { from: "user" });
    return DONE;
  } catch (error) {
    if (context.signal.aborted) return INTERRUPTED;
    if (error instanceof Told) return error.exitCode;
    return await report(context, error, args.includes("--json"));
  } finally {
    process.removeListener("SIGINT", onInterrupt);
  }
}

/** `help run watch` is `run watch --help`; commander's own help goes one word deep. */
function argumentsOf(words: readonly string[]): readonly string[] {
  if (words.length === 0) return ["--help"];
  return words[0] === "help" && words.length > 1 ? [...words.slice(1), "--help"] : words;
}

async function report(context: CliContext, error: unknown, isJson: boolean): Promise<number> {
  // Not at the top: most commands are over before they are needed.
  const { CommanderError } = await import("commander");
  const { SpotterError } = await import("../schema/errors.ts");
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return DONE;
    // A noun alone: its help is on standard error already.
    return BAD_INPUT;
  }
  const coded = (await withoutFolder(error)) ?? SpotterError.from(error);
  if (isJson) printJson(context, coded.toBody());
  else context.err.write(errorText(context, coded));
  return coded.kind === "user" ? BAD_INPUT : FAILED;
}

/** Whoever removes the folder that a shell is in learns that, and no stack. */
async function withoutFolder(error: unknown): Promise<SpotterError | undefined> {
  if ((error as { syscall?: unknown } | undefined)?.syscall !== "uv_cwd") return undefined;
  const { SpotterError } = await import("../schema/errors.ts");
  return new SpotterError("invalid_input", "The folder that this command runs in is not there any more.", {
    hint: "Change to one that is.",
    cause: error,
  });
}

/** What happened, where, how to mend it; a stack only where it is our own fault. */
function errorText(context: CliContext, error: SpotterError): string {
  const { red, dim, bold } = context.colors;
  const stack = error.code === "internal" && error.cause instanceof Error ? (error.cause.stack ?? "") : "";
  return [
    `${red(bold("error"))} ${printable(error.message)} ${dim(`[${error.code}]`)}`,
    ...(stack ? [dim(printable(stack))] : []),
    ...(error.hint ? [`${bold("hint")}  ${context.hint(printable(error.hint))}`] : []),
    "",
  ].join("\n");
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) return "";
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
