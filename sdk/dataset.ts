import { basename, resolve } from "node:path";
import { SpotterError } from "./schema/errors.ts";
import type { DatasetRow } from "./schema/dataset.ts";
import type { DatasetSource } from "./schema/run-spec.ts";
import { EqualPrompts, refuseFault } from "./dataset-checks.ts";
import {
  checkParams,
  DATASET_PARAMS,
  type DatasetParams,
  type ParamTypes,
  withoutUndefined,
} from "./dataset-params.ts";
import { invalidRow, isRow, placeOf, RowFaults, type Row } from "./dataset-rows.ts";
import { filePath } from "./file-path.ts";
import { ownPrompt, systemMessages } from "./own-prompt.ts";
import { columnText, fillTemplate } from "./prompt-template.ts";
import { slicedRows } from "./sliced-rows.ts";

/** What the model is asked, and for SFT what it should answer. */
export interface FormattedRow {
  prompt: DatasetRow["prompt"];
  completion?: string | undefined;
  /** Instead of both, the prompt empty: a text that SFT learns as it stands, every token of it. */
  text?: string | undefined;
}

export type { DatasetParams };
type Settings = Pick<Dataset, keyof DatasetParams>;

/**
 * Rows to train or evaluate on. Use {@link Dataset.fromArray}, {@link Dataset.fromFile} or {@link HuggingFaceDataset},
 * or extend it with your own `rows()`, and with `format()` where a template is not enough.
 *
 * @example
 * class Sums extends Dataset {
 *   *rows() { for (let a = 0; a < 10; a++) yield { a, b: 3, sum: a + 3 }; }
 *   format(row: Row) { return { prompt: [{ role: "user", content: `${row.a} + ${row.b}?` }] }; }
 * }
 */
export abstract class Dataset {
  inputColumn?: string | undefined;
  outputColumn?: string | undefined;
  textColumn?: string | undefined;
  promptTemplate?: string | undefined;
  systemPrompt?: string | undefined;
  applyChatTemplate?: boolean | undefined;
  outputFormat?: "jsonl" | "parquet" | undefined;
  name?: string | undefined;
  readonly #params: DatasetParams;

  /** @param types Options that a subclass takes beyond {@link DatasetParams}. */
  constructor(params: DatasetParams = {}, types: ParamTypes = {}) {
    checkParams(params, { ...DATASET_PARAMS, ...types });
    this.#params = withoutUndefined(params);
    Object.assign(this, this.#params);
  }

  /**
   * A dataset of rows in memory.
   *
   * @example
   * Dataset.fromArray([{ keywords: "rain" }], {
   *   inputColumn: "keywords",
   *   promptTemplate: "Write a haiku about {input}.",
   * });
   */
  static fromArray(rows: readonly object[], params: DatasetParams = {}): Dataset {
    return new ArrayDataset(rows as readonly Row[], params);
  }

  /**
   * The rows of a file: .jsonl, .json, .csv, .tsv (each also .gz or .zst) or .parquet, read in bounded memory.
   *
   * @example
   * Dataset.fromFile("train.parquet", { inputColumn: "question", columns: ["question", "answer"] });
   */
  static fromFile(file: string | URL, params: FileDatasetParams = {}): FileDataset {
    return new FileDataset(file, params);
  }

  /** Where the rows come from, if that is a place with revisions. Known once rows were read. */
  get source(): DatasetSource | undefined {
    return undefined;
  }

  /** The raw rows, in order. */
  abstract rows(): Iterable<Row> | AsyncIterable<Row>;

  /**
   * Turns a row into the prompt. By default: the template, if there is an input column or a template; else
   * a `messages` or `prompt` column as it is. Override it for anything else.
   */
  format(row: Row): FormattedRow {
    const settings = this.settle();
    if (settings.textColumn !== undefined)
      return { prompt: [], text: columnText(row, settings.textColumn, "textColumn") };
    const completion =
      settings.outputColumn === undefined
        ? undefined
        : columnText(row, settings.outputColumn, "outputColumn");
    if (settings.inputColumn === undefined && settings.promptTemplate === undefined) {
      return { prompt: ownPrompt(row, settings.systemPrompt), completion };
    }
    const content = fillTemplate(settings.promptTemplate ?? "{input}", row, settings.inputColumn);
    return { prompt: [...systemMessages(settings.systemPrompt), { role: "user", content }], completion };
  }

  /**
   * All rows, formatted and checked: what gets uploaded.
   *
   * @throws SpotterError `dataset_empty`; `dataset_invalid` with file and line of up to ten bad rows;
   * `invalid_input` for a template that makes all prompts equal.
   */
  async load(): Promise<DatasetRow[]> {
    const loaded: DatasetRow[] = [];
    for await (const row of this.checked()) loaded.push(row);
    return loaded;
  }

  /** As {@link load}, one row at a time; what is wrong with rows is told at the end, all at once. */
  async *checked(): AsyncIterable<DatasetRow> {
    const faults = new RowFaults();
    const prompts = new EqualPrompts(this.settle().promptTemplate);
    let count = 0;
    let index = 0;
    try {
      for await (const row of this.rows()) {
        const sound = this.#soundOr(faults, row, index++);
        if (sound === undefined || faults.count > 0) continue;
        prompts.add(sound);
        count++;
        yield sound;
      }
    } catch (error) {
      faults.add(error);
    }
    faults.throwIfAny();
    prompts.refuse();
    if (count > 0) return;
    throw new SpotterError("dataset_empty", `${this.#what()} has no rows.`, {
      where: this.name,
      hint: "A dataset needs at least one row.",
    });
  }

  /**
   * Writes the rows with their `messages` (and `completion`) to a .jsonl or .parquet file, which appears
   * whole or not at all. Resolves to the number of rows.
   *
   * @example
   * await dataset.save("prepared/train.parquet");
   */
  async save(path: string): Promise<number> {
    const { writeRows } = await import("./datasets/index.ts");
    return writeRows(resolve(path), this.#prepared(), this.settle().outputFormat);
  }

  /** The rows from `start` up to, not including, `end`; negative numbers count from the end. */
  slice(start?: number, end?: number): Dataset {
    return new SlicedDataset(this, this.settle(), start, end);
  }

  /** As {@link load}, one row at a time. */
  async *formatted(): AsyncIterable<DatasetRow> {
    this.settle();
    let index = 0;
    for await (const row of this.rows()) yield this.#formatted(row, this.#where(row, index++));
  }

  #soundOr(faults: RowFaults, row: Row, index: number): DatasetRow | undefined {
    const where = this.#where(row, index);
    try {
      return refuseFault(this.#formatted(row, where), where);
    } catch (error) {
      return void faults.add(error);
    }
  }

  #where(row: unknown, index: number): string {
    return placeOf(row) ?? `row ${index}${this.name ? ` of ${this.name}` : ""}`;
  }

  async *#prepared(): AsyncIterable<Row> {
    for await (const { prompt, completion, text, row } of this.formatted())
      yield text === undefined
        ? { ...row, messages: prompt, ...(completion === undefined ? {} : { completion }) }
        : { ...row, text };
  }

  #formatted(row: unknown, where: string): DatasetRow {
    if (!isRow(row)) throw invalidRow(where, "a row must be an object with named columns");
    try {
      const { prompt, completion, text } = this.format(row);
      if (typeof text === "string" && text !== "") return { prompt: [], text, row };
      if (text !== undefined) throw new Error("the text to learn is empty");
      if (!Array.isArray(prompt) || prompt.length === 0) throw new Error("format() gave no prompt messages");
      const template = this.applyChatTemplate === false ? { chatTemplate: false } : {};
      return { prompt, ...(completion === undefined ? {} : { completion }), ...template, row };
    } catch (error) {
      if (SpotterError.is(error)) throw error;
      throw invalidRow(where, error instanceof Error ? error.message : String(error), error);
    }
  }

  /** What was passed wins over what a subclass sets in its fields, which is its default. */
  protected settle(): Settings {
    return Object.assign(this, this.#params);
  }

  #what(): string {
    return this.name ? `The dataset ${this.name}` : "The dataset";
  }
}

class ArrayDataset extends Dataset {
  readonly #rows: readonly Row[];

  constructor(rows: readonly Row[], params: DatasetParams) {
    super(params);
    if (!Array.isArray(rows))
      throw new SpotterError("invalid_input", "Dataset.fromArray takes an array of rows.");
    this.#rows = rows as readonly Row[];
  }

  override rows(): Iterable<Row> {
    return this.#rows;
  }
}

export interface FileDatasetParams extends DatasetParams {
  /** Columns to keep. Default all. Of Parquet files only these are read. */
  columns?: string[];
}

/** Rows of a file on this machine; {@link Dataset.fromFile} makes one. */
export class FileDataset extends Dataset {
  readonly file: string;
  columns?: string[] | undefined;

  constructor(file: string | URL, params: FileDatasetParams = {}) {
    const path = resolve(filePath(file, "Dataset.fromFile"));
    super({ ...params, name: params.name ?? basename(path) }, { columns: "strings" });
    this.file = path;
    this.columns = params.columns;
  }

  override async *rows(): AsyncIterable<Row> {
    const { fileRows } = await import("./datasets/index.ts");
    yield* fileRows(this.file, this.columns, this.rowFormat);
  }

  /** What is in the file, whatever its name is. */
  protected get rowFormat(): "jsonl" | undefined {
    return undefined;
  }
}

/** A window on another dataset, which keeps formatting. */
class SlicedDataset extends Dataset {
  readonly #origin: Dataset;
  readonly #start: number | undefined;
  readonly #end: number | undefined;

  constructor(origin: Dataset, settings: Settings, start: number | undefined, end: number | undefined) {
    super();
    for (const key of Object.keys(DATASET_PARAMS) as (keyof DatasetParams)[])
      Object.assign(this, { [key]: settings[key] });
    this.#origin = origin;
    this.#start = start;
    this.#end = end;
  }

  override get source(): DatasetSource | undefined {
    const source = this.#origin.source;
    const cut = `[${this.#start ?? ""}:${this.#end ?? ""}]`;
    return source && { ...source, split: `(${source.split})${cut}` };
  }

  override async *rows(): AsyncIterable<Row> {
    yield* slicedRows(this.#origin.rows(), this.#start, this.#end);
  }

  override format(row: Row): FormattedRow {
    return this.#origin.format(row);
  }
}
