import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod/mini";
import { SpotterError } from "../../schema/errors.ts";
import type { Finished, Pulumi } from "./pulumi.ts";

const settings = z.record(z.string(), z.object({ value: z.optional(z.string()) }));
const stacks = z.array(z.object({ name: z.string() }));
const outputs = z.looseObject({
  url: z.optional(z.string()),
  gatewayUrl: z.optional(z.string()),
  keyBootstrapFunction: z.optional(z.string()),
});
export type StackOutputs = z.infer<typeof outputs>;
const login = z.object({ user: z.optional(z.string()), url: z.optional(z.string()) });

export async function pulumiVersion(pulumi: Pulumi): Promise<string> {
  const version = (await must(pulumi, "version")).stdout.trim();
  if (/^v?\d+\.\d+\.\d+\S*$/.test(version)) return version;
  throw strange("pulumi version", version === "" ? "nothing" : "no version");
}

/** Of the Node that Pulumi would start: the first on its path. */
export async function nodeVersion({ env, folder }: Pick<Pulumi, "env" | "folder">): Promise<string> {
  return (await promisify(execFile)("node", ["--version"], { cwd: folder, env })).stdout.trim();
}

/** Settings of a stack by their full names; none where the stack is new, or nobody is logged in. */
export async function settingsOf(pulumi: Pulumi, stack: string): Promise<Record<string, string>> {
  const answer = await pulumi.ask("config", "--json", "--stack", stack);
  if (answer.code !== 0) return {};
  const all = read(settings, ["config", "--json"], answer.stdout);
  return Object.fromEntries(Object.entries(all).map(([name, { value = "" }]) => [name, value]));
}

/** Where a stack is, as its own settings say; undefined: they do not, or there is no such stack. */
export async function regionOf(pulumi: Pulumi, stack: string): Promise<string | undefined> {
  const { code, stdout } = await pulumi.ask("config", "get", "aws:region", "--stack", stack);
  return code === 0 && stdout.trim() !== "" ? stdout.trim() : undefined;
}

/** Where the state is kept; undefined: nobody is logged in. */
export async function backendOf(pulumi: Pulumi): Promise<string | undefined> {
  const answer = await pulumi.ask("whoami", "--json");
  if (answer.code !== 0) return undefined;
  return read(login, ["whoami", "--json"], answer.stdout).url ?? "";
}

export async function knowsStack(pulumi: Pulumi, stack: string): Promise<boolean> {
  const { stdout } = await must(pulumi, "stack", "ls", "--json");
  return read(stacks, ["stack", "ls"], stdout).some(({ name }) => name.split("/").at(-1) === stack);
}

export async function outputsOf(pulumi: Pulumi, stack: string): Promise<StackOutputs> {
  const { stdout } = await must(pulumi, "stack", "output", "--json", "--stack", stack);
  return read(outputs, ["stack", "output"], stdout);
}

/**
 * What a command of Pulumi's printed, as data.
 *
 * @throws SpotterError `deploy_failed` where it is something else: nothing may be concluded from it.
 */
export function read<T extends z.ZodMiniType>(
  schema: T,
  args: readonly string[],
  stdout: string,
): z.infer<T> {
  const line = `pulumi ${args.join(" ")}`;
  let data: unknown;
  try {
    data = JSON.parse(stdout);
  } catch {
    // Not its words: they may be of a state, which has secrets in it.
    throw strange(line, stdout.trim() === "" ? "nothing" : "no JSON");
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw strange(line, `\`${issue?.path.join(".") || "all of it"}\` is wrong`);
}

function strange(line: string, found: string): SpotterError {
  return new SpotterError("deploy_failed", `\`${line}\` did not print what it should: ${found}.`, {
    where: line,
    hint: "Run it yourself and look. Is `pulumi` the program itself (`command -v pulumi`), 3.200 or newer?",
  });
}

/** Runs it unseen; an end in failure is an error with its words. */
export async function must(pulumi: Pulumi, ...args: string[]): Promise<Finished> {
  const answer = await pulumi.ask(...args);
  if (answer.code === 0) return answer;
  throw pulumiFailed(args, answer);
}

export function pulumiFailed(args: readonly string[], { code, stdout, stderr }: Finished): SpotterError {
  const words = (stderr.trim() || stdout.trim()).split("\n").slice(-5).join("\n");
  const line = `pulumi ${args.slice(0, 2).join(" ")}`;
  return new SpotterError("deploy_failed", `\`${line}\` ended with code ${code}: ${words}`, {
    where: line,
    hint: "Its words say what is wrong; docs/aws.md has the ways out of an update that broke off.",
  });
}
