// The first thing that a container runs, from its command line: fetches our program, checks it, unpacks it and
// becomes it. Nothing of ours is there yet, so it uses what Node has by itself.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const { SPOTTER_PROGRAM_URL, SPOTTER_PROGRAM_SHA256, SPOTTER_PROGRAM_ENTRY, ...environment } = process.env;
/** The last one comes after a minute and a half. */
const PAUSES = [0, 1, 3, 9, 27];
const PAUSE_MS = Number(environment.SPOTTER_PROGRAM_PAUSE_MS ?? 2_000);

async function fetched() {
  let problem = "";
  for (const pause of PAUSES) {
    await delay(pause * PAUSE_MS);
    try {
      const answer = await fetch(SPOTTER_PROGRAM_URL, { signal: AbortSignal.timeout(120_000) });
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      if (sha256 === SPOTTER_PROGRAM_SHA256) return bytes;
      throw new Error(`its SHA-256 is ${sha256}, not ${SPOTTER_PROGRAM_SHA256}`);
    } catch (error) {
      problem = error.cause?.message ?? error.message;
    }
  }
  throw new Error(`${SPOTTER_PROGRAM_URL} could not be fetched: ${problem}`);
}

function unpacked(bytes) {
  const folder = join(tmpdir(), `spotter-${SPOTTER_PROGRAM_SHA256.slice(0, 12)}`);
  const archive = `${folder}.tar.gz`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(archive, bytes);
  const { status, stderr } = spawnSync("tar", ["-xzf", archive, "-C", folder], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${archive} could not be unpacked: ${stderr}`);
  return folder;
}

/** Where others in the network of the stack reach this container. */
function ownAddress() {
  const prefix = environment.SPOTTER_NETWORK;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return prefix && addresses.find(({ address }) => address.startsWith(prefix))?.address;
}

try {
  const folder = unpacked(await fetched());
  const kind = environment.SPOTTER_JOB_ID?.split("-")[0] ?? "";
  const entry = join(folder, SPOTTER_PROGRAM_ENTRY.replace("{kind}", kind));
  const workDir = environment.SPOTTER_WORK_DIR ?? join(tmpdir(), "spotter-work");
  mkdirSync(workDir, { recursive: true });
  const host = ownAddress();
  // Not a child: signals reach the program itself, and its exit code is the container's. Node calls this a trial.
  process.removeAllListeners("warning");
  process.execve(process.execPath, [process.execPath, entry], {
    ...environment,
    SPOTTER_WORK_DIR: workDir,
    ...(host && { SPOTTER_REPLICA_HOST: host }),
  });
} catch (error) {
  console.error(`container_failed: ${error.message}`);
  process.exit(1);
}
