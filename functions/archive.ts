/**
 * Backup and restore of one machine's state: `node functions/archive.ts backup|restore FILE [--with-secrets]`,
 * for the folder `$SPOTTER_HOME` (default `~/.spotter`). Prints one JSON line: the manifest, or the error.
 *
 * @module
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { backUp } from "./local/backup/backup.ts";
import { restore } from "./local/backup/restore.ts";
import { packageVersion } from "./local/package-version.ts";
import { SpotterError } from "../sdk/schema/errors.ts";

const home = resolve(process.env["SPOTTER_HOME"] || join(homedir(), ".spotter"));

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { "with-secrets": { type: "boolean" } },
  });
  const [verb, file = ""] = positionals;
  const withSecrets = values["with-secrets"] ?? false;
  const options = { home, file, withSecrets, version: packageVersion(), now: () => Date.now() };
  const manifest = verb === "restore" ? await restore(options) : await backUp(options);
  process.stdout.write(`${JSON.stringify(manifest)}\n`);
} catch (thrown) {
  const error = SpotterError.from(thrown);
  process.stdout.write(`${JSON.stringify(error.toBody())}\n`);
  process.exitCode = error.kind === "user" ? 2 : 1;
}
