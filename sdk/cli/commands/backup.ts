import { spawn } from "node:child_process";
import type { Command } from "commander";
import * as z from "zod/mini";
import { errorBody, SpotterError } from "../../schema/errors.ts";
import { archiveProgram, spotterHome } from "../../local/home.ts";
import { nodeProgram } from "../../local/node-program.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { oneLine } from "../render/visible.ts";
import { verb } from "../verb.ts";

const manifest = z.object({
  version: z.string(),
  createdAtMs: z.number(),
  withSecrets: z.boolean(),
  missing: z.array(z.string()),
});

export function backupCommand(context: CliContext): Command {
  return verb(
    "backup <file>",
    "Write the state of this machine into one file; the daemon may go on meanwhile",
    "spotter backup ~/spotter-monday.tar",
  )
    .option("--with-secrets", "take the values of secrets along")
    .action(async (file: string, options: { withSecrets?: boolean; json?: boolean }) => {
      const flags = options.withSecrets ? ["--with-secrets"] : [];
      const made = await archive(context, ["backup", file, ...flags]);
      if (options.json) return printJson(context, { file, ...made });
      print(context, `${spotterHome()} is saved in ${file}${made.withSecrets ? ", with its secrets" : ""}.`);
      for (const key of made.missing) context.err.write(`Missing, and not in the backup: ${oneLine(key)}\n`);
    });
}

export function restoreCommand(context: CliContext): Command {
  return verb(
    "restore <file>",
    "Make the state folder from a backup; refused if the folder holds anything",
    "SPOTTER_HOME=~/restored spotter restore ~/spotter-monday.tar",
  ).action(async (file: string, options: { json?: boolean }) => {
    const home = spotterHome();
    const made = await archive(context, ["restore", file]);
    if (options.json) return printJson(context, { home, ...made });
    print(context, `${home} is as it was at ${new Date(made.createdAtMs).toISOString()}.`);
    if (!made.withSecrets) print(context, "Secrets were not part of it: set them with `spotter secret set`.");
  });
}

/** A program of its own does it: what it must not lose, the command line must not know. */
async function archive(context: CliContext, args: string[]): Promise<z.infer<typeof manifest>> {
  const env = { ...process.env, SPOTTER_HOME: spotterHome() };
  const child = spawn(nodeProgram(), ["--no-warnings", archiveProgram(), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env,
    signal: context.signal,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await new Promise((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  const answer: unknown = JSON.parse(output.trim().split("\n").at(-1) || "null");
  const error = errorBody.safeParse(answer);
  if (error.success) throw SpotterError.fromBody(error.data, 500);
  const made = manifest.safeParse(answer);
  if (made.success) return made.data;
  throw new SpotterError("internal", `The program for ${args[0]} ended without an answer.`);
}
