import { SpotterError } from "../schema/errors.ts";
import { nearestName } from "../schema/nearest-name.ts";
import type { HubConfig, HubFile, HubRepo } from "../hub/hub.ts";
import { formatOf } from "./file-format.ts";

/** Files by split, in the order of their names. */
export type SplitFiles = Map<string, HubFile[]>;

const KEYWORDS: [split: string, words: RegExp][] = [
  ["train", /(?:^|[^a-z0-9])(?:train|training)(?:[^a-z0-9]|$)/],
  ["validation", /(?:^|[^a-z0-9])(?:validation|valid|val|dev)(?:[^a-z0-9]|$)/],
  ["test", /(?:^|[^a-z0-9])(?:test|testing|eval|evaluation)(?:[^a-z0-9]|$)/],
];

/**
 * The data files of one configuration: as the dataset card lists them, else by their names
 * (https://huggingface.co/docs/hub/datasets-file-names-and-splits). Undefined if none can be read as they are.
 */
export function splitFiles(repo: HubRepo, config: string | undefined): SplitFiles | undefined {
  const files = repo.files
    .filter(({ path }) => formatOf(path) !== undefined && !/(^|\/)[._]/.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const listed = configOf(repo, config);
  if (listed !== undefined) {
    return new Map(
      listed.files.map(({ split, paths }) => [
        split,
        files.filter(({ path }) => paths.some((pattern) => globPattern(pattern).test(path))),
      ]),
    );
  }
  if (config !== undefined && config !== "default") {
    const inFolder = files.filter(({ path }) => path.startsWith(`${config}/`));
    return inFolder.length > 0 ? byName(inFolder, `${config}/`) : undefined;
  }
  const data = files.filter(
    ({ path }) => !/(^|\/)(dataset_infos|dataset_dict|state|package)\.json$/.test(path),
  );
  return data.length > 0 ? byName(oneFormat(data), "") : undefined;
}

/** @throws SpotterError `dataset_not_found` with the splits there are. */
export function filesOfSplit<T>(files: Map<string, T>, split: string, what: string): T {
  const found = files.get(split);
  if (found !== undefined) return found;
  throw unknownName("split", split, [...files.keys()], what);
}

export function unknownName(
  noun: "config" | "split",
  name: string,
  known: readonly string[],
  what: string,
): SpotterError {
  const near = nearestName(name, known);
  return new SpotterError("dataset_not_found", `${what} has no ${noun} "${name}".`, {
    where: noun,
    hint: near ? `Did you mean "${near}"?` : `It has ${known.join(", ") || "none"}.`,
  });
}

function configOf({ repo, configs }: HubRepo, config: string | undefined): HubConfig | undefined {
  if (configs.length === 0) return undefined;
  const names = configs.map(({ name }) => name);
  if (config !== undefined) {
    const named = configs.find(({ name }) => name === config);
    if (named === undefined) throw unknownName("config", config, names, `The dataset ${repo}`);
    return named;
  }
  const only = configs.length === 1 ? configs[0] : undefined;
  const chosen =
    configs.find(({ isDefault }) => isDefault) ?? configs.find(({ name }) => name === "default") ?? only;
  if (chosen !== undefined) return chosen;
  throw new SpotterError(
    "dataset_not_found",
    `The dataset ${repo} has several configs: ${names.join(", ")}.`,
    {
      where: "config",
      hint: `Choose one, for example config: ${JSON.stringify(names[0])}.`,
    },
  );
}

/** Files that tell no split are all of them train. */
function byName(files: HubFile[], prefix: string): SplitFiles {
  const splits: SplitFiles = new Map();
  for (const file of files) {
    const name = file.path.slice(prefix.length).toLowerCase();
    const split = KEYWORDS.find(([, words]) => words.test(name))?.[0];
    if (split !== undefined) splits.set(split, [...(splits.get(split) ?? []), file]);
  }
  return splits.size > 0 ? splits : new Map([["train", files]]);
}

/** A repository may hold the same rows in several formats: the one with the most files is read. */
function oneFormat(files: HubFile[]): HubFile[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const rows = formatOf(path)?.rows ?? "";
    counts.set(rows, (counts.get(rows) ?? 0) + 1);
  }
  const best = [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
  return files.filter(({ path }) => formatOf(path)?.rows === best);
}

/** `**`, `*`, `?` and `{a,b}` as fsspec takes them; node:path's matchesGlob still warns under Node 22. */
function globPattern(glob: string): RegExp {
  const source = glob
    .replace(/^\.\//, "")
    .replace(/\/$/, "/**")
    .replaceAll(/\*\*\/|\*\*|\*|\?|\{[^{}]*\}|[.+^$()|[\]\\{}]/g, (match) => {
      if (match === "**/") return "(?:.*/)?";
      if (match === "**") return ".*";
      if (match === "*") return "[^/]*";
      if (match === "?") return "[^/]";
      if (match.length > 1) return `(?:${match.slice(1, -1).split(",").map(escaped).join("|")})`;
      return `\\${match}`;
    });
  return new RegExp(`^${source}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
