import {
  type AnnounceDataset,
  type AnnounceDatasetReply,
  datasetRow,
  type DatasetRecord,
  type DatasetRow,
} from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { DatasetRef } from "../../sdk/schema/run-spec.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { isKept, putContent } from "../records/content.ts";
import { directUploadOf } from "../records/direct-upload.ts";
import type { DocumentKey } from "../ports/store.ts";
import { checkRows, type RowCount } from "./check-rows.ts";

/** Enough for a few rows of any sane size. */
const HEAD_BYTES = 1024 * 1024;

export function datasetBlob(sha256: string): string {
  return `datasets/${sha256}.jsonl`;
}

export function datasetKey(sha256: string): DocumentKey {
  return { partition: "datasets", sort: sha256 };
}

/** Stores a JSONL body under its hash, checked while it streams. What is known already is only read over. */
export async function putDataset(
  control: Control,
  sha256: string,
  body: ReadableStream<Uint8Array>,
  name: string | undefined,
): Promise<DatasetRecord> {
  const known = await findDataset(control, sha256);
  if (known !== undefined && (await isKept(control.blobs, datasetBlob(sha256), sha256))) {
    await body.pipeTo(new WritableStream());
    return known;
  }
  const count: RowCount = { rows: 0, bytes: 0 };
  await putContent(control.blobs, datasetBlob(sha256), body.pipeThrough(checkRows(count)), sha256);
  return await recordDataset(control, sha256, count, name);
}

/**
 * For rows that go past the control plane: says where to, and once they are there, reads them over and records them.
 *
 * @throws SpotterError `dataset_invalid` or `dataset_empty`; such rows are not kept.
 */
export async function announceDataset(
  control: Control,
  sha256: string,
  { bytes, name }: AnnounceDataset,
): Promise<AnnounceDatasetReply> {
  const key = datasetBlob(sha256);
  const known = await findDataset(control, sha256);
  if ((await control.blobs.head(key))?.size === bytes && (await isKept(control.blobs, key, sha256))) {
    return { dataset: known ?? (await adoptDataset(control, sha256, name)) };
  }
  const upload = await directUploadOf(control.blobs, key, { size: bytes, sha256 });
  return upload === undefined ? {} : { upload };
}

async function adoptDataset(
  control: Control,
  sha256: string,
  name: string | undefined,
): Promise<DatasetRecord> {
  const key = datasetBlob(sha256);
  const count: RowCount = { rows: 0, bytes: 0 };
  const rows = await control.blobs.get(key);
  try {
    await rows?.pipeThrough(checkRows(count)).pipeTo(new WritableStream());
  } catch (error) {
    await control.blobs.delete(key);
    throw error;
  }
  return await recordDataset(control, sha256, count, name);
}

async function recordDataset(
  control: Control,
  sha256: string,
  count: RowCount,
  name: string | undefined,
): Promise<DatasetRecord> {
  const record: DatasetRecord = {
    v: 1,
    sha256,
    ...(name !== undefined && { name }),
    ...count,
    createdAtMs: control.clock.now(),
  };
  await control.store.put(datasetKey(sha256), record);
  return record;
}

export async function findDataset(control: Control, sha256: string): Promise<DatasetRecord | undefined> {
  return (await control.store.get<DatasetRecord>(datasetKey(sha256)))?.value;
}

export async function getDataset(control: Control, sha256: string, where?: string): Promise<DatasetRecord> {
  const record = await findDataset(control, sha256);
  if (record === undefined) {
    throw new SpotterError("not_found", `There is no dataset ${sha256}.`, {
      where,
      hint: "Upload it first with PUT /datasets/:sha256.",
    });
  }
  return record;
}

/** A reference holds if the dataset is stored and has as many rows as whoever refers to it believes. */
export async function checkDataset(control: Control, ref: DatasetRef, where: string): Promise<void> {
  const record = await getDataset(control, ref.sha256, where);
  if (record.rows === ref.rows) return;
  throw new SpotterError("invalid_input", `Dataset ${ref.sha256} has ${record.rows} rows, not ${ref.rows}.`, {
    where: `${where}.rows`,
    hint: "Refer to it with the record that PUT /datasets answered.",
  });
}

/** The first rows of a dataset. */
export async function datasetHead(control: Control, sha256: string, rows: number): Promise<DatasetRow[]> {
  const { bytes } = await getDataset(control, sha256);
  const key = datasetBlob(sha256);
  const size = Math.min(bytes, HEAD_BYTES);
  const stream = await control.blobs.get(key, { range: [0, size] });
  if (stream === undefined) throw new SpotterError("not_found", `The rows of dataset ${sha256} are gone.`);
  const lines = (await new Response(stream).text()).split("\n");
  // The last line may be cut off, unless this was the whole file.
  if (size < bytes) lines.pop();
  return lines
    .filter((line) => line.trim() !== "")
    .slice(0, rows)
    .map((line, index) => parseWith(datasetRow, JSON.parse(line), `Dataset line ${index + 1}`));
}
