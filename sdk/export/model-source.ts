import { join } from "node:path";
import type { Client } from "../client.ts";
import { downloadFile } from "../download.ts";
import { pageOf } from "../schema/common.ts";
import { SpotterError } from "../schema/errors.ts";
import { modelRecord, type ModelRecord, type ModelRef } from "../schema/model.ts";

/** Time for one file of weights. */
const DOWNLOAD_MS = 4 * 3_600_000;

/**
 * Where the weights of a model are on this disk: its name for those of the package and for folders, else the
 * folder that stored weights are fetched to.
 *
 * @throws SpotterError `model_not_found` where no name means the weights any more.
 */
export async function modelSource(
  client: Client,
  model: ModelRef,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { revision } = model;
  if (revision === undefined) return model.name;
  const { files } = await recordOf(client, model.name, revision, signal);
  for (const file of files) {
    const path = `/models/${revision}/files/${encodeURIComponent(file.path)}`;
    const request = { signal, timeoutMs: DOWNLOAD_MS };
    await downloadFile(folder, file, (read) => client.receive("GET", path, request, read));
  }
  const [only] = files;
  return files.length === 1 && only !== undefined ? join(folder, only.path) : folder;
}

/** The weights by their hash: their name may mean others by now, and another name may mean them. */
async function recordOf(
  client: Client,
  name: string,
  revision: string,
  signal: AbortSignal | undefined,
): Promise<ModelRecord> {
  let after: string | undefined;
  do {
    const page = await client.request(pageOf(modelRecord), "GET", "/models", { query: { after }, signal });
    const found = page.items.find(({ sha256 }) => sha256 === revision);
    if (found !== undefined) return found;
    after = page.next;
  } while (after !== undefined);
  throw new SpotterError(
    "model_not_found",
    `No stored model has the weights of ${name} that this was trained on.`,
    {
      where: `${name}@${revision.slice(0, 12)}`,
      hint: "Store them again with `spotter model push`, or export the adapter alone: --format peft.",
    },
  );
}
