import {
  checkpoint as checkpointSchema,
  checkpointVerdict,
  type Checkpoint as CheckpointRecord,
} from "./schema/checkpoint.ts";
import { type CallOptions, type Client, clientOf } from "./client.ts";

/** Time for one file. */
const DOWNLOAD_MS = 3_600_000;

/** Weights that a run has saved. Only complete ones exist. */
export class Checkpoint {
  readonly #client: Client;
  readonly record: CheckpointRecord;

  /** @internal Use `run.checkpoints()`, `result.checkpoints()` or {@link Checkpoint.get}. */
  constructor(client: Client, record: CheckpointRecord) {
    this.#client = client;
    this.record = record;
  }

  /** @throws SpotterError `checkpoint_not_found` */
  static async get(id: string, options: CallOptions = {}): Promise<Checkpoint> {
    const client = clientOf(options);
    const { signal } = options;
    return new Checkpoint(client, await client.request(checkpointSchema, "GET", pathOf(id), { signal }));
  }

  /** `run@step` */
  get id(): string {
    return this.record.id;
  }

  get runId(): string {
    return this.record.runId;
  }

  get step(): number {
    return this.record.step;
  }

  /** Where the files lie: a folder on one machine, an s3:// prefix on AWS. */
  get path(): string {
    return this.record.path;
  }

  get metrics(): Record<string, number> {
    return this.record.metrics ?? {};
  }

  /** Keeps it from `spotter cleanup` and from the retention of its run; `false` undoes that. */
  async pin(pinned = true, { signal }: { signal?: AbortSignal } = {}): Promise<Checkpoint> {
    const options = { json: { pinned }, signal };
    const record = await this.#client.request(checkpointSchema, "PATCH", pathOf(this.id), options);
    return new Checkpoint(this.#client, record);
  }

  /**
   * Deletes the weights for good.
   *
   * @throws SpotterError `conflict` while it is pinned, served, or what a run may begin from
   */
  delete({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    return this.#client.command("DELETE", pathOf(this.id), { signal });
  }

  /** Reads every file where it is stored. What is wrong, or undefined. */
  async verify({ signal }: { signal?: AbortSignal } = {}): Promise<string | undefined> {
    const options = { signal, timeoutMs: DOWNLOAD_MS };
    const path = `${pathOf(this.id)}/verify`;
    return (await this.#client.request(checkpointVerdict, "POST", path, options)).damage;
  }

  /**
   * Copies the files into a folder, which is made if it does not exist. Files that are there and hash right
   * are kept; every file is checked against its hash. `model/` can be loaded by any tool that reads the
   * Hugging Face layout.
   *
   * @throws SpotterError `blob_corrupt`
   * @example
   * await checkpoint.download("./my-model");
   */
  async download(folder: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const { downloadFile } = await import("./download.ts");
    for (const file of this.record.files) {
      const path = `${pathOf(this.id)}/files/${file.path}`;
      const request = { signal: options.signal, timeoutMs: DOWNLOAD_MS };
      await downloadFile(folder, file, (read) => this.#client.receive("GET", path, request, read));
    }
  }
}

/** The id of a checkpoint given either way. */
export function checkpointIdOf(checkpoint: { id: string } | string): string {
  return typeof checkpoint === "string" ? checkpoint : checkpoint.id;
}

function pathOf(id: string): string {
  return `/checkpoints/${encodeURIComponent(id)}`;
}
