import { SpotterError } from "./schema/errors.ts";
import type { DatasetSource } from "./schema/run-spec.ts";
import { Dataset, type DatasetParams } from "./dataset.ts";
import { withoutUndefined } from "./dataset-params.ts";
import type { Row } from "./dataset-rows.ts";

export interface HuggingFaceDatasetParams extends DatasetParams {
  /** `owner/name` on the hub. */
  repo?: string;
  /** Default: the only or the default one. */
  config?: string;
  /** `train`, `train[:10]`, `train[10%:20%]`, `train[10:15]+test`. Default `train`. */
  split?: string;
  /** Branch, tag or commit. Default main, at the commit where it was first read. */
  revision?: string;
  /** Columns to read. Default all. */
  columns?: string[];
  /** Ask the hub again instead of using what was read before. Default false. */
  refresh?: boolean;
}

const PARAMS = {
  repo: "string",
  config: "string",
  split: "string",
  revision: "string",
  columns: "strings",
  refresh: "boolean",
} as const;

/**
 * Rows of a dataset on the Hugging Face hub, or on the mirror that HF_ENDPOINT names; HF_TOKEN opens private
 * and gated ones. Parquet, JSON Lines, JSON and CSV files are read, only as far as the split needs. What was
 * read is kept below `$SPOTTER_HOME/cache` and read from there afterwards, also without a network.
 *
 * @example
 * class HaikuDataset extends HuggingFaceDataset {
 *   override repo = "statworx/haiku";
 *   override inputColumn = "keywords";
 *   override promptTemplate = "Write a haiku about {input}.";
 * }
 * const train = new HaikuDataset({ split: "train[:10]" });
 * const held = new HaikuDataset({ split: "train[10:15]" });
 */
export class HuggingFaceDataset extends Dataset {
  repo?: string | undefined;
  config?: string | undefined;
  split?: string | undefined;
  revision?: string | undefined;
  columns?: string[] | undefined;
  refresh?: boolean | undefined;
  /** The commit that the rows are of; known once rows were read. */
  commit: string | undefined;
  readonly #hubParams: HuggingFaceDatasetParams;

  constructor(params: HuggingFaceDatasetParams = {}) {
    super(params, PARAMS);
    this.#hubParams = withoutUndefined(params);
    Object.assign(this, this.#hubParams);
  }

  override get source(): DatasetSource | undefined {
    const { repo, config, split = "train", commit } = this;
    if (repo === undefined || commit === undefined) return undefined;
    return { repo, ...(config === undefined ? {} : { config }), split, commit };
  }

  /**
   * @throws SpotterError `dataset_not_found`, `hub_gated`, `hub_rate_limited`, `hub_unreachable`,
   * `dataset_invalid`
   */
  override async *rows(): AsyncIterable<Row> {
    Object.assign(this, this.#hubParams);
    const { repo, config, split = "train", revision, columns, refresh = false } = this;
    if (repo === undefined) {
      throw new SpotterError("invalid_input", "A HuggingFaceDataset needs a repo.", {
        where: "repo",
        hint: 'Pass { repo: "statworx/haiku" }, or set it in a field of your class.',
      });
    }
    this.name ??= `${repo} ${split}`;
    const { openHubRows } = await import("./datasets/index.ts");
    const opened = await openHubRows({ repo, config, split, revision, columns, refresh });
    this.commit = opened.commit;
    yield* opened.rows;
  }
}
