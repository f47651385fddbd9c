import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { backup as copyDatabase, DatabaseSync } from "node:sqlite";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { diskError } from "../disk-error.ts";
import { storeError } from "../sqlite-store/errors.ts";
import { MANIFEST, type BackupManifest } from "./manifest.ts";
import { missingBlobs } from "./missing-blobs.ts";
import { tar } from "./tar.ts";

export interface BackupOptions {
  home: string;
  /** Becomes a tar file that only its owner can read. */
  file: string;
  /** Take `secrets.json` along. Default: no. */
  withSecrets?: boolean;
  version: string;
  now: () => number;
}

/** Deleting while it is copied may take blobs away that the copied database still names. */
const MAX_TRIES = 3;

/**
 * Writes a state folder into one file while its daemon may go on: the database as of one moment, and every
 * blob that it names. Blobs never change, so hard links to them are a copy.
 *
 * @throws SpotterError `not_found` without a state folder, `conflict` if the file exists, `disk_full`
 */
export async function backUp(options: BackupOptions): Promise<BackupManifest & { file: string }> {
  const { home, version, now, withSecrets = false } = options;
  const file = resolve(options.file);
  if (!existsSync(join(home, "state.db")))
    throw new SpotterError("not_found", `${home} holds no state.`, { where: home });
  if (existsSync(file)) {
    throw new SpotterError("conflict", `${file} exists.`, {
      where: file,
      hint: "Choose another name, or move it away first.",
    });
  }
  const staging = join(home, `backup-${process.pid}`);
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}`);
  try {
    const missing = await stage(home, staging);
    const secrets = withSecrets && existsSync(join(home, "secrets.json"));
    if (secrets) cpSync(join(home, "secrets.json"), join(staging, "secrets.json"));
    const manifest: BackupManifest = { v: 1, version, createdAtMs: now(), withSecrets: secrets, missing };
    writeFileSync(join(staging, MANIFEST), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
    writeFileSync(unfinished, "", { mode: 0o600, flag: "wx" });
    await tar(["-cf", unfinished, "-C", staging, "."]);
    chmodSync(unfinished, 0o600);
    await rename(unfinished, file);
    return { ...manifest, file };
  } catch (error) {
    throw diskError(error, file);
  } finally {
    for (const path of [staging, unfinished]) rmSync(path, { recursive: true, force: true });
  }
}

/** Fills the staging folder; resolves to the blobs that the database names and nobody has. */
async function stage(home: string, staging: string): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(join(staging, "blobs"), { recursive: true, mode: 0o700 });
    const database = join(staging, "state.db");
    await copyState(join(home, "state.db"), database);
    linkAll(join(home, "blobs", "objects"), join(staging, "blobs", "objects"));
    const missing = missingBlobs(database, join(staging, "blobs", "objects"));
    if (missing.length === 0 || attempt === MAX_TRIES) return missing;
  }
}

async function copyState(from: string, to: string): Promise<void> {
  try {
    const source = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
    try {
      await copyDatabase(source, to);
    } finally {
      source.close();
    }
    chmodSync(to, 0o600);
  } catch (error) {
    throw storeError(error, from);
  }
}

function linkAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  if (!existsSync(from)) return;
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkAll(source, target);
    else if (entry.isFile()) linkOne(source, target);
  }
}

function linkOne(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    // Deleted since its folder was listed: whether it is missed is judged afterwards.
    if (!existsSync(source)) return;
    throw error;
  }
}
