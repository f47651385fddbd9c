import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { spotterHome } from "../local/home.ts";
import { isAlive } from "../local/is-alive.ts";
import { SpotterError } from "../schema/errors.ts";
import type { Hub, HubFile, HubRepo } from "./hub.ts";

const underWay = new Map<string, Promise<string>>();

/**
 * A file of a pinned repository on this disk; downloaded unless it is there already. A download that was cut
 * off, also by the end of the process, goes on where it ended.
 *
 * @throws SpotterError `blob_corrupt` if it is not of the size and the hash that the hub lists.
 */
export function downloadHubFile(hub: Hub, repo: HubRepo, file: HubFile): Promise<string> {
  const host = new URL(hub.endpoint).host.replaceAll(/[^\w.-]/g, "_");
  const folder = join(spotterHome(), "cache", "files", host, `${repo.kind}s`, repo.repo, repo.commit);
  const path = join(folder, ...file.path.split("/"));
  const before = underWay.get(path);
  if (before !== undefined) return before;
  const started = download(hub, repo, file, path).finally(() => underWay.delete(path));
  underWay.set(path, started);
  return started;
}

async function download(hub: Hub, repo: HubRepo, file: HubFile, path: string): Promise<string> {
  if (await isFile(path)) return path;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${process.pid}.part`;
  const resumable = await adoptPartial(path, partial);
  const hashes = hashesOf(file);
  if (resumable > 0) for await (const chunk of createReadStream(partial)) hashes.update(chunk as Uint8Array);
  const handle = await open(partial, "a");
  try {
    for await (const chunk of hub.read(repo, hub.fileUrl(repo, file.path), { start: resumable })) {
      hashes.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  const why = hashes.fault();
  if (why !== undefined) {
    await rm(partial, { force: true });
    throw new SpotterError("blob_corrupt", `${file.path} of ${repo.repo} arrived damaged: ${why}.`, {
      where: file.path,
      hint: "Download it again.",
    });
  }
  await rename(partial, path);
  return path;
}

/** Compares what arrives with everything that the hub says of the file. */
function hashesOf({ size, sha256, gitSha1 }: HubFile) {
  const large = createHash("sha256");
  // As git hashes a file: with its kind and size in front.
  const small = gitSha1 === undefined ? undefined : createHash("sha1").update(`blob ${size ?? 0}\0`);
  let bytes = 0;
  return {
    update(chunk: Uint8Array): void {
      bytes += chunk.byteLength;
      large.update(chunk);
      small?.update(chunk);
    },
    fault(): string | undefined {
      if (size !== undefined && bytes !== size) return `it has ${bytes} bytes, and should have ${size}`;
      const [found, wanted] =
        sha256 === undefined ? [small?.digest("hex"), gitSha1] : [large.digest("hex"), sha256];
      return wanted === undefined || found === wanted
        ? undefined
        : `its hash is ${found}, and should be ${wanted}`;
    },
  };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** Takes over what this process, or one that is gone, has left of the file. Resolves to its size. */
async function adoptPartial(path: string, partial: string): Promise<number> {
  for (const name of await readdir(dirname(path))) {
    const pid = name.startsWith(`${basename(path)}.`) && /\.(\d+)\.part$/.exec(name)?.[1];
    if (!pid || Number(pid) === process.pid || isAlive(Number(pid))) continue;
    // Another process may have been quicker.
    await rename(join(dirname(path), name), partial).catch(() => undefined);
  }
  return (await stat(partial).catch(() => undefined))?.size ?? 0;
}
