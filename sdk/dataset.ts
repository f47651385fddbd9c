import { SpotterError } from "./schema/errors.ts";
import type { DatasetRow } from "./schema/dataset.ts";
import { nearestName } from "./schema/parse.ts";
import { columnText, fillTemplate } from "./prompt-template.ts";

/** One row with the user's own columns. Rewards see it as `args.row`. */
export type Row = Record<string, unknown>;

/** What the model is asked, and for SFT what it should answer. */
export interface FormattedRow {
  prompt: DatasetRow["prompt"];
  completion?: string | undefined;
}

export interface DatasetParams {
  /** Column that fills `{input}` of the template. */
  inputColumn?: string;
  /** Column with the answer SFT learns. */
  outputColumn?: string;
  /** The user's message; `{input}` and `{any_column}` are filled in. Default `{input}`. */
  promptTemplate?: string;
  /** Default: none. */
  systemPrompt?: string;
  /** For people; shown with the run. */
  name?: string;
}

const PARAMS = ["inputColumn", "outputColumn", "promptTemplate", "systemPrompt", "name"] as const;

/**
 * Rows to train or evaluate on. Use {@link Dataset.fromArray} or {@link JsonlDataset}, or extend it with your
 * own `rows()`, and with `format()` where a template is not enough.
 *
 * @example
 * class Sums extends Dataset {
 *   *rows() { for (let a = 0; a < 10; a++) yield { a, b: 3, sum: a + 3 }; }
 *   format(row) { return { prompt: [{ role: "user", content: `${row.a} + ${row.b}?` }] }; }
 * }
 */
export abstract class Dataset {
  inputColumn?: string | undefined;
  outputColumn?: string | undefined;
  promptTemplate?: string | undefined;
  systemPrompt?: string | undefined;
  name?: string | undefined;
  readonly #params: DatasetParams;

  constructor(params: DatasetParams = {}) {
    checkParams(params);
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

  /** The raw rows, in order. */
  abstract rows(): Iterable<Row> | AsyncIterable<Row>;

  /**
   * Turns a row into the prompt. By default: the template, if there is an input column or a template; else
   * a `messages` or `prompt` column as it is. Override it for anything else.
   */
  format(row: Row): FormattedRow {
    const settings = this.#settings();
    const completion =
      settings.outputColumn === undefined ? undefined : columnText(row, settings.outputColumn);
    if (settings.inputColumn === undefined && settings.promptTemplate === undefined) {
      return { prompt: ownPrompt(row, settings.systemPrompt), completion };
    }
    const content = fillTemplate(settings.promptTemplate ?? "{input}", row, settings.inputColumn);
    return { prompt: [...systemMessages(settings.systemPrompt), { role: "user", content }], completion };
  }

  /**
   * All rows, formatted and checked: what gets uploaded.
   *
   * @throws SpotterError `dataset_empty`; `dataset_invalid` with file and line.
   */
  async load(): Promise<DatasetRow[]> {
    const loaded: DatasetRow[] = [];
    for await (const row of this.rows()) {
      const where = placeOf(row) ?? `row ${loaded.length}${this.name ? ` of ${this.name}` : ""}`;
      loaded.push(this.#formatted(row, where));
    }
    if (loaded.length > 0) return loaded;
    throw new SpotterError("dataset_empty", `${this.#what()} has no rows.`, {
      where: this.name,
      hint: "A dataset needs at least one row.",
    });
  }

  /** The rows from `start` up to, not including, `end`; negative numbers count from the end. */
  slice(start?: number, end?: number): Dataset {
    return new SlicedDataset(this, start, end);
  }

  #formatted(row: unknown, where: string): DatasetRow {
    if (!isRow(row)) throw invalidRow(where, "a row must be an object with named columns");
    try {
      const { prompt, completion } = this.format(row);
      if (!Array.isArray(prompt) || prompt.length === 0) throw new Error("format() gave no prompt messages");
      return { prompt, ...(completion === undefined ? {} : { completion }), row };
    } catch (error) {
      if (SpotterError.is(error)) throw error;
      throw invalidRow(where, error instanceof Error ? error.message : String(error), error);
    }
  }

  /** What was passed wins over what a subclass sets in its fields, which is its default. */
  #settings(): DatasetParams {
    const { inputColumn, outputColumn, promptTemplate, systemPrompt } = this;
    return {
      ...withoutUndefined({ inputColumn, outputColumn, promptTemplate, systemPrompt }),
      ...this.#params,
    };
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

/** A window on another dataset, which keeps formatting. */
class SlicedDataset extends Dataset {
  readonly #source: Dataset;
  readonly #start: number | undefined;
  readonly #end: number | undefined;

  constructor(source: Dataset, start: number | undefined, end: number | undefined) {
    super();
    const { inputColumn, outputColumn, promptTemplate, systemPrompt, name } = source;
    Object.assign(this, { inputColumn, outputColumn, promptTemplate, systemPrompt, name });
    this.#source = source;
    this.#start = start;
    this.#end = end;
  }

  override async *rows(): AsyncIterable<Row> {
    const all: Row[] = [];
    for await (const row of this.#source.rows()) {
      all.push(row);
      if (this.#end !== undefined && this.#end >= 0 && all.length >= this.#end) break;
    }
    yield* all.slice(this.#start, this.#end);
  }

  override format(row: Row): FormattedRow {
    return this.#source.format(row);
  }
}

const places = new WeakMap<object, string>();

/** Remembers where a row was read, for messages. */
export function placeRow(row: Row, where: string): Row {
  places.set(row, where);
  return row;
}

export function invalidRow(where: string, what: string, cause?: unknown): SpotterError {
  return new SpotterError("dataset_invalid", `${where}: ${what}.`, {
    where,
    hint: "Correct or remove this row.",
    cause,
  });
}

export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function placeOf(row: unknown): string | undefined {
  return isRow(row) ? places.get(row) : undefined;
}

function ownPrompt(row: Row, systemPrompt: string | undefined): DatasetRow["prompt"] {
  const own = row.messages ?? row.prompt;
  if (typeof own === "string") return [...systemMessages(systemPrompt), { role: "user", content: own }];
  if (Array.isArray(own)) return [...systemMessages(systemPrompt), ...(own as DatasetRow["prompt"])];
  throw new Error(
    "no inputColumn, promptTemplate or format() is set and there is no messages or prompt column",
  );
}

function systemMessages(systemPrompt: string | undefined): DatasetRow["prompt"] {
  return systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }];
}

function checkParams(params: DatasetParams): void {
  const findings = Object.entries(params).flatMap(([key, value]) => {
    const near = nearestName(key, PARAMS);
    if (!(PARAMS as readonly string[]).includes(key)) {
      return [
        `  ${key}: unknown key; ${near ? `did you mean "${near}"?` : `known keys: ${PARAMS.join(", ")}`}`,
      ];
    }
    return value === undefined || typeof value === "string"
      ? []
      : [`  ${key}: is a ${typeof value}, expected string`];
  });
  if (findings.length === 0) return;
  throw new SpotterError("invalid_input", `The dataset's options are not valid:\n${findings.join("\n")}`, {
    hint: "Correct the keys named above.",
  });
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}
