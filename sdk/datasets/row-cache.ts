import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { placeRow, type Row } from "../dataset-rows.ts";
import { localFile } from "./byte-source.ts";
import { cachePath, hashOf, readIfThere, writeAtomic } from "./cache-folder.ts";
import { jsonLines } from "./json-rows.ts";
import { textOf } from "./text-lines.ts";

const record = z.object({ v: z.literal(1), sha256: z.string(), rows: z.number(), identity: z.unknown() });

/**
 * Rows kept as JSONL under everything that chose them. The record beside them is written last and holds their
 * hash: rows without it, or that hash otherwise, are fetched again.
 */
export async function* cachedRows(
  identity: unknown,
  what: string,
  fetchRows: () => AsyncIterable<Row>,
): AsyncIterable<Row> {
  const path = cachePath("datasets", identity, ".jsonl");
  const recordPath = path.replace(/\.jsonl$/, ".json");
  if (!(await isWhole(path, recordPath))) {
    yield* keptRows(path, recordPath, identity, fetchRows());
    return;
  }
  let index = 0;
  for await (const row of jsonLines(textOf(localFile(path).read(), path), path))
    yield placeRow(row, `${what} row ${index++}`);
}

async function isWhole(path: string, recordPath: string): Promise<boolean> {
  const text = await readIfThere(recordPath);
  if (text === undefined) return false;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  const parsed = z.safeParse(record, value);
  return parsed.success && (await hashOf(path)) === parsed.data.sha256;
}

/** Passes rows on while they are written down; kept only when all of them were read. */
async function* keptRows(
  path: string,
  recordPath: string,
  identity: unknown,
  rows: AsyncIterable<Row>,
): AsyncIterable<Row> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomUUID()}.part`;
  const hash = createHash("sha256");
  let count = 0;
  const handle = await open(partial, "w");
  try {
    for await (const row of rows) {
      const line = `${JSON.stringify(row)}\n`;
      hash.update(line);
      await handle.writeFile(line);
      count++;
      yield row;
    }
    await handle.sync();
    await rename(partial, path);
    const entry = { v: 1, sha256: hash.digest("hex"), rows: count, identity };
    await writeAtomic(recordPath, [JSON.stringify(entry)]);
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}
