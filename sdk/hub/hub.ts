import * as z from "zod/mini";
import { SpotterError } from "../schema/errors.ts";
import type { HubTarget } from "./hub-errors.ts";
import { hubGet, type HubConnection } from "./hub-request.ts";
import { readResuming, type ByteRange } from "./read-resuming.ts";

const HUB_URL = "https://huggingface.co";

/** A file of a repository. Size and hash are known for what the hub lists with its blobs. */
export const hubFile = z.object({
  path: z.string(),
  size: z.optional(z.number()),
  sha256: z.optional(z.string()),
  /** Of small files, whose SHA-256 the hub does not list: the SHA-1 that git calls them by. */
  gitSha1: z.optional(z.string()),
});
export type HubFile = z.infer<typeof hubFile>;

/** What the dataset card says about the files of one configuration. */
export const hubConfig = z.object({
  name: z.string(),
  isDefault: z.optional(z.boolean()),
  files: z.array(z.object({ split: z.string(), paths: z.array(z.string()) })),
});
export type HubConfig = z.infer<typeof hubConfig>;

/** A repository at one commit. */
export const hubRepo = z.object({
  kind: z.enum(["dataset", "model"]),
  repo: z.string(),
  commit: z.string(),
  files: z.array(hubFile),
  configs: z.array(hubConfig),
});
export type HubRepo = z.infer<typeof hubRepo>;

export interface HubParams {
  /** Default: HF_ENDPOINT, else https://huggingface.co. */
  endpoint?: string;
  /** Default: HF_TOKEN. Sent to the hub only, never logged. */
  token?: string;
  signal?: AbortSignal | undefined;
  /** Default 250. */
  retryDelayMs?: number;
}

/** Reads repositories of the Hugging Face hub, or of whatever speaks its paths at HF_ENDPOINT. */
export interface Hub {
  readonly endpoint: string;
  /** Lists a repository and pins its revision to a commit. */
  repo(target: HubTarget): Promise<HubRepo>;
  /** Parquet files that the hub made of a dataset, by configuration and split. */
  convertedParquet(repo: string): Promise<Record<string, Record<string, string[]>>>;
  /** Where a file of a pinned repository lies. */
  fileUrl(repo: HubRepo, path: string): URL;
  /** Bytes of a file; goes on where a broken connection ended. */
  read(target: HubTarget, url: URL, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Size in bytes of what a URL leads to. */
  size(target: HubTarget, url: URL): Promise<number>;
}

export function openHub(params: HubParams = {}): Hub {
  const connection: HubConnection = {
    endpoint: endpointOf(params.endpoint ?? process.env.HF_ENDPOINT),
    token: (params.token ?? process.env.HF_TOKEN) || undefined,
    signal: params.signal,
    retryDelayMs: params.retryDelayMs ?? 250,
    isOffline: /^(1|true|yes|on)$/i.test(process.env.HF_HUB_OFFLINE ?? ""),
  };
  const { endpoint } = connection;
  const json = async <T>(target: HubTarget, path: string, schema: z.ZodMiniType<T>): Promise<T> => {
    const url = new URL(endpoint + path);
    const response = await hubGet(connection, target, url);
    const parsed = z.safeParse(schema, await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    throw new SpotterError("hub_unreachable", `${url.href} did not answer as a hub does.`, {
      where: url.host,
      hint: "Check HF_ENDPOINT.",
    });
  };

  return {
    endpoint,
    async repo(target) {
      const { kind, repo, revision = "main" } = target;
      checkRepoName(target);
      const path = `/api/${kind}s/${repo}/revision/${encodeURIComponent(revision)}?blobs=true`;
      const answer = await json(target, path, repoAnswer);
      return {
        kind,
        repo,
        commit: answer.sha,
        files: answer.siblings.map(({ rfilename, size, lfs, blobId }) => ({
          path: rfilename,
          ...(typeof size === "number" ? { size } : {}),
          ...(typeof lfs?.sha256 === "string" ? { sha256: lfs.sha256 } : {}),
          // Of a large file git has a pointer only, and that is what it hashes.
          ...(!lfs && typeof blobId === "string" ? { gitSha1: blobId } : {}),
        })),
        configs: configsOf(answer.cardData),
      };
    },
    convertedParquet: (repo) =>
      json({ kind: "dataset", repo }, `/api/datasets/${repo}/parquet`, parquetAnswer),
    fileUrl({ kind, repo, commit }, path) {
      const encoded = path.split("/").map(encodeURIComponent).join("/");
      return new URL(
        `${endpoint}/${kind === "dataset" ? "datasets/" : ""}${repo}/resolve/${commit}/${encoded}`,
      );
    },
    read: (target, url, range) => readResuming(connection, target, url, range),
    async size(target, url) {
      const response = await hubGet(connection, target, url, { range: "bytes=0-0" });
      const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
      await response.body?.cancel();
      const size = Number(total ?? response.headers.get("content-length") ?? NaN);
      if (Number.isFinite(size)) return size;
      throw new SpotterError("hub_unreachable", `${url.host} does not say how large ${url.pathname} is.`, {
        where: url.pathname,
      });
    },
  };
}

const repoAnswer = z.object({
  sha: z.string(),
  siblings: z.array(
    z.looseObject({
      rfilename: z.string(),
      size: z.nullish(z.number()),
      lfs: z.nullish(z.looseObject({ sha256: z.nullish(z.string()) })),
      blobId: z.nullish(z.string()),
    }),
  ),
  cardData: z.optional(z.unknown()),
});
const parquetAnswer = z.record(z.string(), z.record(z.string(), z.array(z.string())));

const paths = z.union([z.string(), z.array(z.string())]);
const card = z.looseObject({
  configs: z.array(
    z.looseObject({
      config_name: z.string(),
      default: z.optional(z.boolean()),
      data_files: z.union([paths, z.array(z.looseObject({ split: z.string(), path: paths }))]),
    }),
  ),
});

/** https://huggingface.co/docs/hub/datasets-manual-configuration */
function configsOf(cardData: unknown): HubConfig[] {
  const parsed = z.safeParse(card, cardData);
  if (!parsed.success) return [];
  return parsed.data.configs.map(({ config_name, default: isDefault, data_files }) => {
    const list = Array.isArray(data_files) ? data_files : [data_files];
    const bare = list.filter((each) => typeof each === "string");
    const named = list.flatMap((each) =>
      typeof each === "string" ? [] : [{ split: each.split, paths: [each.path].flat() }],
    );
    return {
      name: config_name,
      ...(isDefault === undefined ? {} : { isDefault }),
      files: [...(bare.length > 0 ? [{ split: "train", paths: bare }] : []), ...named],
    };
  });
}

function endpointOf(value: string | undefined): string {
  const endpoint = (value || HUB_URL).replace(/\/+$/, "");
  if (/^https?:\/\/./.test(endpoint) && URL.canParse(endpoint)) return endpoint;
  throw new SpotterError("invalid_input", `HF_ENDPOINT is no address: ${endpoint}`, {
    where: "HF_ENDPOINT",
    hint: `Set it to an address such as ${HUB_URL}, or leave it out.`,
  });
}

function checkRepoName({ kind, repo }: HubTarget): void {
  if (/^[\w.-]+(\/[\w.-]+)?$/.test(repo) && !repo.includes("..")) return;
  throw new SpotterError(
    "invalid_input",
    `${JSON.stringify(repo)} is not the name of a ${kind} on the hub.`,
    {
      where: "repo",
      hint: `Names look like ${kind === "dataset" ? "statworx/haiku" : "Qwen/Qwen3-0.6B"}.`,
    },
  );
}
