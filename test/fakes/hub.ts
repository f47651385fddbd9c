import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

export interface FakeRepo {
  commit?: string;
  files: Record<string, string | Uint8Array>;
  cardData?: unknown;
  /** Answer of /api/datasets/…/parquet: config → split → paths of `files`. */
  converted?: Record<string, Record<string, string[]>>;
  /** Answered instead of everything. */
  refuse?: { status: number; code?: string; when?: (token: string | undefined) => boolean };
}

export interface HubRequest {
  path: string;
  range: string | undefined;
  token: string | undefined;
}

export interface FakeHub {
  url: string;
  requests: HubRequest[];
  /** By `datasets/owner/name` or `owner/name`. */
  repos: Record<string, FakeRepo>;
  /** Consulted before every answer; true: it answered. */
  interfere: (request: HubRequest, response: ServerResponse, body: Uint8Array | undefined) => boolean;
  close(): Promise<void>;
}

/** A hub on this machine that speaks huggingface.co's paths; HF_ENDPOINT and SPOTTER_HOME point to it. */
export async function fakeHub(repos: Record<string, FakeRepo>): Promise<FakeHub> {
  const server = createServer((request, response) => answer(hub, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = mkdtempSync(join(tmpdir(), "spotter-hub-"));
  let closing: Promise<void> | undefined;
  const hub: FakeHub = {
    url,
    requests: [],
    repos,
    interfere: () => false,
    close: () =>
      (closing ??= new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      })),
  };
  vi.stubEnv("HF_ENDPOINT", url);
  vi.stubEnv("HF_TOKEN", "");
  vi.stubEnv("SPOTTER_HOME", home);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await hub.close();
    rmSync(home, { recursive: true, force: true });
  });
  return hub;
}

function answer(hub: FakeHub, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://hub");
  const asked: HubRequest = {
    path: decodeURIComponent(pathname),
    range: request.headers.range,
    token: request.headers.authorization?.replace("Bearer ", ""),
  };
  hub.requests.push(asked);
  const file = fileOf(hub, asked.path);
  if (hub.interfere(asked, response, file)) return;
  const refusal = repoOf(hub, asked.path)?.[1].refuse;
  if (refusal && (refusal.when?.(asked.token) ?? true)) {
    const headers: Record<string, string> = refusal.code ? { "x-error-code": refusal.code } : {};
    return void response.writeHead(refusal.status, headers).end("{}");
  }
  if (file !== undefined) return sendFile(response, file, asked.range);
  const json = jsonOf(hub, asked.path);
  if (json === undefined)
    return void response.writeHead(404, { "x-error-code": errorCode(hub, asked.path) }).end("{}");
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(json));
}

/** The longest name that a path holds. */
function repoOf(hub: FakeHub, path: string): [name: string, repo: FakeRepo] | undefined {
  const plain = path.replace(/^\/api\/(models\/)?/, "/").slice(1);
  return Object.entries(hub.repos).find(([name]) => plain.startsWith(`${name}/`));
}

function fileOf(hub: FakeHub, path: string): Uint8Array | undefined {
  const found = repoOf(hub, path);
  if (found === undefined) return undefined;
  const [name, repo] = found;
  const resolve = `/${name}/resolve/${repo.commit ?? COMMIT}/`;
  const converted = `/api/${name}/parquet/`;
  const prefix = [resolve, converted].find((each) => path.startsWith(each));
  const content = prefix === undefined ? undefined : repo.files[path.slice(prefix.length)];
  return typeof content === "string" ? Buffer.from(content) : content;
}

function jsonOf(hub: FakeHub, path: string): unknown {
  const found = repoOf(hub, path);
  if (found === undefined) return undefined;
  const [name, repo] = found;
  const { commit = COMMIT } = repo;
  if (path === `/api/${name}/parquet` && repo.converted) {
    const urlOf = (file: string) => `https://huggingface.co/api/${name}/parquet/${file}`;
    return Object.fromEntries(
      Object.entries(repo.converted).map(([config, splits]) => [
        config,
        Object.fromEntries(Object.entries(splits).map(([split, files]) => [split, files.map(urlOf)])),
      ]),
    );
  }
  const kind = name.startsWith("datasets/") ? "" : "models/";
  if (![commit, "main"].some((revision) => path === `/api/${kind}${name}/revision/${revision}`))
    return undefined;
  return {
    id: name.replace("datasets/", ""),
    sha: commit,
    cardData: repo.cardData,
    siblings: Object.entries(repo.files).map(([rfilename, content]) => ({
      rfilename,
      size: Buffer.byteLength(content),
      // As the hub does: SHA-256 for large files only, and git's own for all, which is of a pointer for large ones.
      blobId: /\.(parquet|safetensors)$/.test(rfilename) ? "0".repeat(40) : gitSha1(content),
      ...(/\.(parquet|safetensors)$/.test(rfilename) && {
        lfs: { sha256: createHash("sha256").update(content).digest("hex"), size: Buffer.byteLength(content) },
      }),
    })),
  };
}

function gitSha1(content: string | Uint8Array): string {
  return createHash("sha1")
    .update(`blob ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest("hex");
}

function errorCode(hub: FakeHub, path: string): string {
  if (repoOf(hub, path) === undefined) return "RepoNotFound";
  return path.includes("/resolve/") ? "EntryNotFound" : "RevisionNotFound";
}

export function sendFile(response: ServerResponse, file: Uint8Array, range: string | undefined): void {
  const match = /^bytes=(\d+)-(\d*)$/.exec(range ?? "");
  if (!match) return void response.writeHead(200, { "content-length": file.byteLength }).end(file);
  const start = Number(match[1]);
  const end = match[2] ? Math.min(Number(match[2]) + 1, file.byteLength) : file.byteLength;
  if (start >= file.byteLength)
    return void response.writeHead(416, { "content-range": `bytes */${file.byteLength}` }).end();
  const headers = {
    "content-range": `bytes ${start}-${end - 1}/${file.byteLength}`,
    "content-length": end - start,
  };
  response.writeHead(206, headers).end(file.subarray(start, end));
}

/** Sends the beginning of a file and breaks the connection. */
export function cutOff(
  response: ServerResponse,
  file: Uint8Array,
  range: string | undefined,
  bytes: number,
): void {
  const start = Number(/^bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
  const rest = file.subarray(start);
  const headers = {
    "content-length": rest.byteLength,
    "content-range": `bytes ${start}-${file.byteLength - 1}/${file.byteLength}`,
  };
  response.writeHead(range === undefined ? 200 : 206, headers);
  response.write(rest.subarray(0, bytes), () => response.destroy());
}
