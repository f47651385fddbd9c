import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { datasetBlob } from "../../datasets/datasets.ts";
import { userCodeBlob } from "../../user-code/records.ts";
import { checkpointPrefix } from "../../checkpoints/records.ts";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";

/** Keys that documents of a database name and that are no files below `objects`. */
export function missingBlobs(databasePath: string, objects: string): string[] {
  const database = new DatabaseSync(databasePath, { readOnly: true });
  try {
    return [...namedBlobs(database)].filter(
      (key) => statSync(join(objects, key), { throwIfNoEntry: false })?.isFile() !== true,
    );
  } finally {
    database.close();
  }
}

function* namedBlobs(database: DatabaseSync): Generator<string> {
  const rows = database.prepare("SELECT partition, sort, value FROM documents").iterate();
  for (const row of rows) {
    const [kind = ""] = String(row["partition"]).split("/", 1);
    if (kind === "datasets") yield datasetBlob(String(row["sort"]));
    if (kind === "user-code") yield userCodeBlob(String(row["sort"]));
    if (kind === "rollouts") yield (JSON.parse(String(row["value"])) as { blob: string }).blob;
    if (kind !== "checkpoints") continue;
    const { runId, step, attempt, files } = JSON.parse(String(row["value"])) as Checkpoint;
    for (const { path } of files) yield `${checkpointPrefix(runId, step, attempt)}/${path}`;
  }
}
