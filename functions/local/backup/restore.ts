import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { diskError } from "../disk-error.ts";
import { SqliteStore } from "../sqlite-store.ts";
import { backupManifest, MANIFEST, type BackupManifest } from "./manifest.ts";
import { missingBlobs } from "./missing-blobs.ts";
import { tar } from "./tar.ts";

/**
 * Makes a state folder from a backup. The folder must not exist, or be empty: nothing is ever overwritten, and
 * until all is there, nothing is.
 *
 * @throws SpotterError `conflict` if the folder holds something, `invalid_input` if the file is no backup,
 * `state_too_new`, `state_unreadable` or `blob_corrupt` if what it holds cannot be used, `disk_full`
 */
export async function restore(params: { home: string; file: string }): Promise<BackupManifest> {
  const { home } = params;
  const file = resolve(params.file);
  if (!existsSync(file)) throw new SpotterError("not_found", `There is no file ${file}.`, { where: file });
  if (existsSync(home) && readdirSync(home).length > 0) {
    throw new SpotterError("conflict", `${home} is not empty; restoring would overwrite it.`, {
      where: home,
      hint: "Move it away first (stop its daemon with `spotter down`), or point SPOTTER_HOME at another folder.",
    });
  }
  const manifest = await manifestOf(file);
  const unfinished = `${home}.restoring-${process.pid}`;
  try {
    mkdirSync(dirname(home), { recursive: true });
    mkdirSync(unfinished, { mode: 0o700 });
    await tar(["-xf", file, "-C", unfinished]);
    await check(unfinished, manifest, file);
    rmSync(join(unfinished, MANIFEST));
    if (existsSync(home)) rmdirSync(home);
    await rename(unfinished, home);
    return manifest;
  } catch (error) {
    throw diskError(error, home);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function manifestOf(file: string): Promise<BackupManifest> {
  const notABackup = (cause: unknown) =>
    new SpotterError("invalid_input", `${file} is not a backup of Spotter, or is cut off.`, {
      where: file,
      hint: "Give a file that `spotter backup FILE` made.",
      cause,
    });
  try {
    return backupManifest.parse(JSON.parse(await tar(["-xOf", file, `./${MANIFEST}`])));
  } catch (error) {
    if (SpotterError.is(error) && error.code === "not_found") throw error;
    throw notABackup(error);
  }
}

/** Opens the database as the daemon will, and looks for every blob it names. */
async function check(folder: string, { missing }: BackupManifest, file: string): Promise<void> {
  const path = join(folder, "state.db");
  await new SqliteStore(path).close();
  const lost = missingBlobs(path, join(folder, "blobs", "objects")).filter((key) => !missing.includes(key));
  if (lost.length === 0) return;
  throw new SpotterError("blob_corrupt", `${file} lacks ${lost.length} files, for example ${lost[0]}.`, {
    where: file,
    hint: "The backup is damaged; use another one.",
  });
}
