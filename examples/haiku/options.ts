/**
 * What may follow `npm run demo --`.
 *
 * @module
 */
import { parseArgs } from "node:util";

const OPTIONS = {
  json: { type: "boolean", default: false },
  "plain-reward": { type: "boolean", default: false },
  home: { type: "string" },
  quick: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

const USAGE = `Options, after npm run demo --:
  --home DIR      keep runs, checkpoints and evals in this folder
  --quick         a few steps only: it shows that everything works, not that anything is learnt
  --plain-reward  train with the haiku reward alone
  --json          print the three scores as JSON, last`;

/** The options; ends the process where they are wrong (2) or where only their list was asked for (0). */
export function readOptions() {
  const { values, problem } = parsed();
  if (problem === undefined && !values.help) return values;
  (problem === undefined ? process.stdout : process.stderr).write(`${problem ?? ""}${USAGE}\n`);
  process.exit(problem === undefined ? 0 : 2);
}

function parsed() {
  try {
    return { ...parseArgs({ options: OPTIONS }), problem: undefined };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...parseArgs({ args: [], options: OPTIONS }), problem: `${message.split(". ")[0]}.\n\n` };
  }
}
