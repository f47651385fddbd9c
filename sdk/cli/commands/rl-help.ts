import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { targetOf } from "../../config/prime-rl/argv-target.ts";
import { helpGroups, type HelpGroup } from "../../config/prime-rl/help.ts";
import { noSetting } from "./rl-settings.ts";
import { rootOf } from "../../config/prime-rl/walk.ts";
import type { Colors } from "../context.ts";

/** Columns of a line: those of the terminal within these bounds, and the most where there is none. */
const MOST_WIDE = 100;
const LEAST_WIDE = 60;
/** Where the text of a setting begins, as a share of the line. */
const TEXT_AT = 0.46;

const INTRODUCTION = `Files come after an @ and a space and merge from left to right; flags lie over them:
  @ base.toml @ overlay.toml                 two files, TOML, JSON or YAML
  --trainer @ trainer.toml                   a file for one section
  --trainer.optim.lr 1e-5                    a setting; dashes or underscores, = or space
  --dry-run, --no-dry-run                    a switch
  --ckpt, --no-ckpt, --max-steps None        a section on or off, a setting unset
  --trainer.log.ranks-filter 0 1             a list; or '[0, 1]'
  --env-vars '{"HF_HUB_OFFLINE": "1"}'       a table, merged into that of the files
  --orchestrator.train.env.0.ratio 3         an entry of a list of tables
`;

/** All settings of an entrypoint, or those at and below one path. */
export function entrypointHelp(
  name: EntrypointName,
  about: string | undefined,
  { bold, dim }: Colors,
  columns = MOST_WIDE,
): string[] {
  const width = Math.max(LEAST_WIDE, Math.min(MOST_WIDE, columns));
  const rowLines = (row: Row) => wrappedRow(row, width);
  const root = rootOf(ENTRYPOINTS[name].schema);
  const target = about === undefined ? undefined : targetOf(about.replace(/^--/, ""), root);
  const groups = helpGroups(root, target?.path);
  if (target && groups.length === 0) throw noSetting(name, target.path);
  const lines = groups.flatMap(({ title, note, rows }) => [
    `${bold(title)}${note ? dim(`  ${note}`) : ""}`,
    ...rows.flatMap(rowLines),
    "",
  ]);
  if (about !== undefined) return lines;
  // A trainer or an orchestrator alone does not run here, and a server's settings change nothing.
  const isHere = name === "rl" || name === "sft";
  return [
    `Usage: spotter ${name} [@ file.toml]... [--path.to.setting VALUE]...`,
    "",
    ...INTRODUCTION.split("\n"),
    ...lines,
    `Of Spotter itself`,
    ...rowLines({
      flag: "--json",
      takes: "",
      text: "print JSON: { config, provenance, findings }, and the run or endpoint that was started",
    }),
    ...(isHere
      ? rowLines({
          flag: "--force",
          takes: "",
          text: "launch what will most likely not fit, or takes more than a day",
        })
      : []),
    ...(isHere
      ? rowLines({
          flag: "--wandb-secret",
          takes: "NAME",
          text: "the stored secret with the key of W&B; without one [wandb] is kept with the run and told nobody",
        })
      : []),
    ...rowLines({ flag: "--help", takes: "[SETTING]", text: "all settings, or those of one section" }),
    "",
    `\`spotter config explain ${name} SETTING @ file.toml\` tells where a value comes from${isHere ? "," : "."}`,
    ...(isHere ? ["and whether the setting is honoured on this machine."] : []),
  ];
}

type Row = HelpGroup["rows"][number];

function wrappedRow({ flag, takes, text }: Row, width: number): string[] {
  const head = `  ${flag}${takes ? ` ${takes}` : ""}`;
  const textAt = Math.floor(width * TEXT_AT);
  const wrapped = wrap(text, width - textAt);
  const indent = " ".repeat(textAt);
  if (head.length > textAt - 2) return [head, ...wrapped.map((line) => indent + line)];
  return wrapped.map((line, index) => (index === 0 ? head.padEnd(textAt) : indent) + line);
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
