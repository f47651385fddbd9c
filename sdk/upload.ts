import { announceDatasetReply, datasetRecord, type DatasetRow } from "./schema/dataset.ts";
import { SpotterError } from "./schema/errors.ts";
import { userCodeRecord, type CodeLanguage, type UserCodeRecord } from "./schema/user-code.ts";
import type { DatasetRef } from "./schema/run-spec.ts";
import type { Client } from "./client.ts";
import type { Dataset } from "./dataset.ts";

const UPLOAD_MS = 600_000;
/** Below, announcing would cost more than it saves; servers draw the line there too. */
const DIRECT_FROM_BYTES = 1024 * 1024;

/** Something addressed by its own hash, ready to be sent to a server that lacks it. */
export interface Packed<Ref> {
  ref: Ref;
  /** In memory, or a file that is read as it is sent. */
  bytes: Uint8Array | Blob;
  name: string | undefined;
  /** Of user code that is not TypeScript. */
  language?: CodeLanguage;
}

export interface PackedDataset extends Packed<DatasetRef> {
  /** Once it was sent, or will not be. */
  close(): Promise<void>;
}

/**
 * Reads, formats, checks and hashes a dataset, a row at a time: more rows than fit in memory wait in a file. The
 * same rows always give the same reference. Whoever packs must close.
 */
export async function packDataset(
  dataset: Dataset,
  check?: (row: DatasetRow, index: number) => void,
): Promise<PackedDataset> {
  return packRows(checkedRows(dataset, check), () => dataset);
}

/** Formatted rows that a check has seen. */
export async function* checkedRows(
  dataset: Dataset,
  check?: (row: DatasetRow, index: number) => void,
): AsyncIterable<DatasetRow> {
  let index = 0;
  for await (const row of dataset.checked()) {
    check?.(row, index++);
    yield row;
  }
}

/** The same for rows that are formatted already. `about` is asked once all were read. */
export async function packRows(
  rows: AsyncIterable<DatasetRow>,
  about: () => Partial<Pick<Dataset, "name" | "inputColumn" | "source">>,
): Promise<PackedDataset> {
  // Loaded only here: node:crypto alone takes a tenth of the time that importing the whole package may take.
  const { spoolRows } = await import("./datasets/row-spool.ts");
  const spooled = await spoolRows(rows);
  const { name, inputColumn, source } = about();
  const ref: DatasetRef = {
    sha256: spooled.sha256,
    rows: spooled.rows,
    ...(inputColumn === undefined ? {} : { inputColumn }),
    ...(name === undefined ? {} : { name }),
    ...(source === undefined ? {} : { source }),
  };
  return { ref, bytes: spooled.bytes, name, close: () => spooled.close() };
}

/** Bundles rewards, tools or an environment into one module. esbuild is loaded only here. */
export async function packUserCode(entry: URL | string): Promise<Packed<{ sha256: string }>> {
  const { bundleUserCode } = await import("./user-code/bundle.ts");
  const { code, sha256, name, warnings } = await bundleUserCode(entry);
  for (const warning of warnings) process.emitWarning(warning, "SpotterWarning");
  return { ref: { sha256 }, bytes: code, name };
}

export async function uploadDataset(
  client: Client,
  packed: Packed<DatasetRef>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const path = `/datasets/${packed.ref.sha256}`;
  if (await exists(() => client.request(datasetRecord, "GET", path, { signal }))) return;
  if (sizeOf(packed.bytes) >= DIRECT_FROM_BYTES && (await uploadPast(client, path, packed, signal))) return;
  const query = { name: packed.name };
  const options = { body: packed.bytes, query, signal, timeoutMs: UPLOAD_MS };
  await client.request(datasetRecord, "PUT", path, options);
}

/** Sends rows straight to where the server keeps them, if it can be reached; else false. */
async function uploadPast(
  client: Client,
  path: string,
  { bytes, name }: Packed<DatasetRef>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const json = { bytes: sizeOf(bytes), name };
  const announce = () =>
    client.request(announceDatasetReply, "POST", path, { json, signal, timeoutMs: UPLOAD_MS });
  // A server of before has no such route.
  const { dataset, upload } = (await exists(announce)) ?? {};
  if (dataset !== undefined) return true;
  if (upload === undefined) return false;
  const { putDirect } = await import("./direct-upload.ts");
  await putDirect(upload, bytes, { signal, timeoutMs: UPLOAD_MS });
  // The server reads them over before they count.
  return (await announce()).dataset !== undefined;
}

function sizeOf(bytes: Uint8Array | Blob): number {
  return bytes instanceof Blob ? bytes.size : bytes.byteLength;
}

/** Sends the code if the server lacks it; the server loads it once and says what it exports. */
export async function uploadUserCode(
  client: Client,
  packed: Packed<{ sha256: string }>,
  signal: AbortSignal | undefined,
): Promise<UserCodeRecord> {
  const path = `/user-code/${packed.ref.sha256}`;
  const query = { name: packed.name, language: packed.language };
  const known = await exists(() => client.request(userCodeRecord, "GET", path, { signal }));
  return known ?? client.request(userCodeRecord, "PUT", path, { body: packed.bytes, query, signal });
}

async function exists<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (SpotterError.is(error) && error.code === "not_found") return undefined;
    throw error;
  }
}
