import * as z from "zod/mini";
import { SpotterError } from "../schema/errors.ts";
import type { Row } from "../dataset-rows.ts";
import { hubRepo, openHub, type Hub, type HubFile, type HubRepo } from "../hub/hub.ts";
import { downloadHubFile } from "../hub/download-hub-file.ts";
import { localFile, type ByteSource } from "./byte-source.ts";
import { cachePath, readIfThere, writeAtomic } from "./cache-folder.ts";
import { requireFormat } from "./file-format.ts";
import { filesOfSplit, splitFiles, unknownName } from "./hub-files.ts";
import { cachedRows } from "./row-cache.ts";
import { rowsBetween, rowSource, type RowSource } from "./row-source.ts";
import { needsCount, parseSplit, rangeOf, type SplitPart } from "./split.ts";

export interface HubRowsParams {
  repo: string;
  config: string | undefined;
  split: string;
  revision: string | undefined;
  columns: readonly string[] | undefined;
  /** Ask the hub again, whatever the cache holds. */
  refresh: boolean;
}

/** Rows of a dataset on the hub, and the commit they are of. */
export interface HubRows {
  commit: string;
  rows: AsyncIterable<Row>;
}

/**
 * Opens a dataset of the hub. What was read before is not asked for again unless `refresh`: not the commit
 * that a branch points at, and not the rows.
 */
export async function openHubRows(params: HubRowsParams): Promise<HubRows> {
  const { repo: name, config, split, columns } = params;
  const parts = parseSplit(split);
  const hub = openHub();
  const repo = await pinnedRepo(hub, params);
  const identity = { v: 1, endpoint: hub.endpoint, repo: name, commit: repo.commit, config, split, columns };
  const what = `${name} (${config === undefined ? "" : `${config} `}${split})`;
  const fetchRows = () => rowsOf(hub, repo, params, parts);
  return { commit: repo.commit, rows: cachedRows(identity, what, fetchRows) };
}

async function* rowsOf(
  hub: Hub,
  repo: HubRepo,
  params: HubRowsParams,
  parts: readonly SplitPart[],
): AsyncIterable<Row> {
  const splits = await sourcesBySplit(hub, repo, params);
  const what = `The dataset ${repo.repo}${params.config === undefined ? "" : ` (${params.config})`}`;
  // Every name is checked before the first row is fetched.
  const chosen = parts.map((part) => ({ part, sources: filesOfSplit(splits, part.split, what) }));
  for (const { part, sources } of chosen) {
    if (!needsCount(part)) {
      yield* rowsBetween(sources, part.from?.value ?? 0, part.to?.value ?? Infinity);
      continue;
    }
    let count = 0;
    for (const source of sources) count += await source.count();
    yield* rowsBetween(sources, ...rangeOf(part, count));
  }
}

/** The listing of a repository at a commit. A branch stays where it was first seen, until `refresh`. */
async function pinnedRepo(hub: Hub, { repo, revision, refresh }: HubRowsParams): Promise<HubRepo> {
  const path = cachePath("hub", { v: 1, endpoint: hub.endpoint, kind: "dataset", repo, revision }, ".json");
  const kept = refresh ? undefined : await readIfThere(path);
  if (kept !== undefined) {
    const parsed = z.safeParse(hubRepo, JSON.parse(kept));
    if (parsed.success) return parsed.data;
  }
  const found = await hub.repo({ kind: "dataset", repo, revision });
  await writeAtomic(path, [JSON.stringify(found)]);
  return found;
}

async function sourcesBySplit(
  hub: Hub,
  repo: HubRepo,
  params: HubRowsParams,
): Promise<Map<string, RowSource[]>> {
  const files = splitFiles(repo, params.config);
  if (files === undefined) return convertedSources(hub, repo, params);
  return new Map(
    [...files].map(([split, list]) => [split, list.map((file) => fileSource(hub, repo, file, params))]),
  );
}

function fileSource(hub: Hub, repo: HubRepo, file: HubFile, { columns }: HubRowsParams): RowSource {
  const bytes = hubBytes(hub, repo, hub.fileUrl(repo, file.path), file);
  const localise = async () => localFile(await downloadHubFile(hub, repo, file), bytes.name);
  return rowSource(bytes, { columns, localise, format: requireFormat(file.path) });
}

function hubBytes(hub: Hub, repo: HubRepo, url: URL, file: HubFile): ByteSource {
  let size: Promise<number> | undefined;
  return {
    name: `${repo.repo}/${file.path}`,
    size: () => (size ??= file.size === undefined ? hub.size(repo, url) : Promise.resolve(file.size)),
    read: (range) => hub.read(repo, url, range),
  };
}

/** Datasets whose files nobody can read directly, for example those of a loading script. */
async function convertedSources(
  hub: Hub,
  repo: HubRepo,
  { config, revision, columns }: HubRowsParams,
): Promise<Map<string, RowSource[]>> {
  if (revision !== undefined && revision !== "main") {
    throw new SpotterError(
      "dataset_not_found",
      `The dataset ${repo.repo} has no Parquet, JSON or CSV files at revision "${revision}"${config === undefined ? "" : ` for the config "${config}"`}.`,
      {
        where: "revision",
        hint: "The hub converts the newest revision only: leave revision out to read that.",
      },
    );
  }
  const configs = await hub.convertedParquet(repo.repo);
  const names = Object.keys(configs);
  const chosen =
    config ??
    (names.length === 1 || names.includes("default")
      ? (names.find((name) => name === "default") ?? names[0])
      : undefined);
  const splits = chosen === undefined ? undefined : configs[chosen];
  if (splits === undefined)
    throw unknownName("config", config ?? "default", names, `The dataset ${repo.repo}`);
  return new Map(
    Object.entries(splits).map(([split, urls]) => [
      split,
      urls.map((url) => {
        // The list names the public address; a mirror serves the same paths.
        const { pathname } = new URL(url);
        const file = { path: pathname.slice(pathname.indexOf(repo.repo) + repo.repo.length + 1) };
        const bytes = hubBytes(hub, repo, new URL(hub.endpoint + pathname), file);
        return rowSource(bytes, { columns, format: { rows: "parquet" } });
      }),
    ]),
  );
}
