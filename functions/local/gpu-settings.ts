import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { engineImages, type EngineImages } from "../../sdk/schema/engine-images.ts";
import { atomicWrite } from "./atomic-write.ts";
import { errorCode } from "./disk-error.ts";
import { parseJson } from "./parse-json.ts";

const gpuSettings = z.object({ v: z.literal(1), images: engineImages });

/**
 * What the last `spotter up` said of GPUs: a daemon that a script starts after a crash must be the same one.
 * Undefined: nothing, or that there are none.
 *
 * @throws SpotterError `state_unreadable`
 */
export function readGpuSettings(home: string): EngineImages | undefined {
  const path = pathOf(home);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw unreadable(path, `cannot be read (${errorCode(error) ?? String(error)}).`, error);
  }
  const parsed = gpuSettings.safeParse(parseJson(text));
  if (parsed.success) return parsed.data.images;
  throw unreadable(path, "does not hold the images of engines.");
}

function unreadable(path: string, what: string, cause?: unknown): SpotterError {
  return new SpotterError("state_unreadable", `${path} ${what}`, {
    where: path,
    hint: "Remove it, or run `spotter up --gpu` with the images.",
    cause,
  });
}

/** Undefined: the next daemon has no containers in Docker. */
export function writeGpuSettings(home: string, images: EngineImages | undefined): void {
  if (images === undefined) rmSync(pathOf(home), { force: true });
  else atomicWrite(pathOf(home), JSON.stringify({ v: 1, images } satisfies z.infer<typeof gpuSettings>));
}

function pathOf(home: string): string {
  return join(home, "gpu.json");
}
