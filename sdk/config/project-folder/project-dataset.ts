import { basename } from "node:path";
import { Dataset } from "../../dataset.ts";
import type { Row } from "../../dataset-rows.ts";
import type { DatasetRow } from "../../schema/dataset.ts";
import type { DatasetType } from "./config-schema.ts";
import { answersOf } from "./answers.ts";
import { exactRowJson } from "./row-json.ts";
import { isObject } from "./row-context.ts";

const NAME = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

export interface ProjectRowsParams {
  path: string;
  kind: DatasetType;
  /** Of sft: conversations are learnt as they stand, and not answer by answer. Default false. */
  isWhole?: boolean;
  /** Rows to leave out at the beginning, and how many to take. Default: all. */
  skip?: number;
  take?: number;
}

/** Rows of train.jsonl as a run takes them: validated before, so that nothing is checked a second time. */
export class ProjectDataset extends Dataset {
  readonly #params: ProjectRowsParams;

  constructor(params: ProjectRowsParams) {
    super({ name: basename(params.path) });
    this.#params = params;
  }

  override async *rows(): AsyncIterable<Row> {
    const { path, skip = 0, take = Infinity } = this.#params;
    const [{ localFile }, { linesOf, textOf }] = await Promise.all([
      import("../../datasets/byte-source.ts"),
      import("../../datasets/text-lines.ts"),
    ]);
    let index = 0;
    for await (const line of linesOf(textOf(localFile(path).read(), path))) {
      if (line.trim() === "") continue;
      const json = exactRowJson(line.replace(/^\uFEFF/, ""));
      if ("error" in json) continue;
      if (index >= skip + take) return;
      if (index++ >= skip) yield json.value as Row;
    }
  }

  override async *checked(): AsyncIterable<DatasetRow> {
    const { kind, isWhole = false } = this.#params;
    for await (const row of this.rows())
      yield* isWhole ? [{ prompt: saidIn(row), row }] : examples(row, kind);
  }
}

/**
 * A row as the run takes it, with its variables filled in; of sft the last answer is what is learnt, of midtrain the
 * text, all of it.
 */
export function formatted(row: Row, kind: DatasetType): DatasetRow {
  if (kind === "midtrain") return { prompt: [], text: filled(row.text, row.variables) as string, row };
  const messages = saidIn(row);
  if (kind === "sft") return answered(messages, messages.length - 1, row);
  const names = (value: unknown) => (Array.isArray(value) ? (value as string[]) : undefined);
  const [rewards, tools] = kind === "rl" ? [names(row.rewards), names(row.tools)] : [];
  return { prompt: messages, ...(rewards && { rewards }), ...(tools && { tools }), row };
}

/** What is learnt from a row: of sft every answer, each with all that was said before it. */
export function examples(row: Row, kind: DatasetType): DatasetRow[] {
  if (kind !== "sft") return [formatted(row, kind)];
  const said = saidIn(row);
  return answersOf(said).map(({ index }) => answered(said, index, row));
}

function saidIn(row: Row): DatasetRow["prompt"] {
  return (row.messages as DatasetRow["prompt"]).map((message) => ({
    ...message,
    // A message that only calls tools has none, in the form of some.
    content: filled(message.content ?? "", row.variables),
  }));
}

function answered(messages: DatasetRow["prompt"], index: number, row: Row): DatasetRow {
  const answer = messages[index]?.content;
  return { prompt: messages.slice(0, index), completion: typeof answer === "string" ? answer : "", row };
}

/** How many examples the first rows of a file hold. */
export async function examplesOf(params: ProjectRowsParams): Promise<number> {
  let count = 0;
  for await (const row of new ProjectDataset(params).rows()) count += answersOf(row.messages).length;
  return count;
}

/** `$name` and `${name}` become what `variables` say; everything else stays, `$$` and unknown names included. */
export function filled(content: unknown, variables: unknown): unknown {
  if (!isObject(variables)) return content;
  if (Array.isArray(content))
    return content.map((part: unknown) =>
      isObject(part) && typeof part.text === "string"
        ? { ...part, text: filled(part.text, variables) }
        : part,
    );
  if (typeof content !== "string") return content;
  return content.replace(NAME, (written, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? "";
    if (!Object.hasOwn(variables, name)) return written;
    const value = variables[name];
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
