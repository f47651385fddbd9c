import {
  checkpoint as checkpointSchema,
  checkpointVerdict,
  type Checkpoint as CheckpointRecord,
} from "./schema/checkpoint.ts";
import { type CallOptions, type Client, clientOf } from "./client.ts";

import type { Exported, ExportFormat, ExportType } from "./schema/export.ts";

export interface ExportParams {
  /**
   * `hf`: a Hugging Face folder of all weights, `gguf`: a GGUF file of them, both with an adapter merged in;
   * `peft`: the adapter alone, which Transformers and vLLM load onto its model.
   */
  format: ExportFormat;
  /** The folder to make; for `gguf` also the file, where it ends with .gguf. */
  output: string;
  /** How numbers are stored. Default: `f32` in a folder, `f16` in a GGUF file, which takes `q8_0` as well. */
  type?: ExportType;
  signal?: AbortSignal;
}

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

  /**
   * Has the Hugging Face weights made that it lacks, again where that has failed. {@link Checkpoint.get} tells how far
   * they are (`record.conversion`). One that has its weights stays as it is.
   */
  async convert({ signal }: { signal?: AbortSignal } = {}): Promise<Checkpoint> {
    const path = `${pathOf(this.id)}/convert`;
    return new Checkpoint(
      this.#client,
      await this.#client.request(checkpointSchema, "POST", path, { signal }),
    );
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
   * @throws SpotterError `blob_corrupt`; `invalid_input` for a place in Spotter's own folder
   * @example
   * await checkpoint.download("./my-model");
   */
  async download(folder: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const { downloadCheckpoint } = await import("./export/export-checkpoint.ts");
    await downloadCheckpoint(this.#client, this.record, folder, options.signal);
  }

  /**
   * Writes the weights for other tools. The model that an adapter was trained on is fetched from where it is
   * stored, or read from its folder.
   *
   * @returns the absolute path of what was written, and what its readers will do otherwise than Spotter
   * @throws SpotterError `conflict` where something is there already, `invalid_input` for a combination that
   *   cannot be and for a place in Spotter's own folder, `model_not_found` where the model of an adapter is gone,
   *   `weights_missing` for one that has none yet
   * @example
   * const { path } = await checkpoint.export({ format: "gguf", output: "./out", type: "q8_0" });
   */
  async export({ format, output, type, signal }: ExportParams): Promise<Exported> {
    const { exportCheckpoint } = await import("./export/export-checkpoint.ts");
    return exportCheckpoint(this.#client, this.record, { format, output, type, signal });
  }
}

/** The id of a checkpoint given either way. */
export function checkpointIdOf(checkpoint: { id: string } | string): string {
  return typeof checkpoint === "string" ? checkpoint : checkpoint.id;
}

function pathOf(id: string): string {
  return `/checkpoints/${encodeURIComponent(id)}`;
}
