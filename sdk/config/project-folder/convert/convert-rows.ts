import { existsSync } from "node:fs";
import type { Row } from "../../../dataset-rows.ts";
import { SpotterError } from "../../../schema/errors.ts";
import { nearestName } from "../../../schema/nearest-name.ts";
import { RECIPES, type Recipe } from "./recipes.ts";

export interface ConvertParams {
  /** One of {@link RECIPES}. */
  to: string | undefined;
  /** Columns to read instead of the recipe's own. */
  inputColumn?: string | undefined;
  outputColumn?: string | undefined;
}

/**
 * Rows of a dataset as rows of a project's train.jsonl, one by one.
 *
 * @throws SpotterError `invalid_input` for an unknown recipe; `dataset_invalid`, with row and column, for a row that
 * lacks what the recipe reads.
 * @example
 * for await (const row of convertRows(dataset.rows(), { to: "gsm8k" })) console.log(row.metadata);
 */
export async function* convertRows(rows: AsyncIterable<Row>, params: ConvertParams): AsyncIterable<Row> {
  const recipe = recipeOf(params.to ?? "");
  const { inputColumn: input = recipe.input, outputColumn: output = recipe.output } = params;
  let index = 0;
  for await (const row of rows) {
    const place = index++;
    const read = {
      input: (text: boolean) => valueOf(row, place, input, text),
      output: (text: boolean) => valueOf(row, place, output, text),
    };
    yield recipe.convert({
      row,
      text: () => read.input(true) as string,
      value: () => read.input(false),
      answerText: () => read.output(true) as string,
      answer: () => read.output(false),
      refuse: (message) => refused(place, input, message),
    });
  }
}

/**
 * Whether a conversion can begin at all, before anything is fetched.
 *
 * @throws SpotterError `invalid_input`
 */
export function checkConversion(params: ConvertParams, path: string): void {
  const refuse = (message: string, where: string, hint: string) =>
    new SpotterError("invalid_input", message, { where, hint });
  if (params.to === undefined)
    throw refuse(
      "Columns are named for a recipe, and there is none.",
      "--input-column",
      `Say which with --to: ${Object.keys(RECIPES).join(", ")}.`,
    );
  recipeOf(params.to);
  if (!path.endsWith(".jsonl"))
    throw refuse(`${path} is no .jsonl file, and a project's rows are.`, "out", "Write it as train.jsonl.");
  if (existsSync(path))
    throw refuse(`${path} exists already.`, "out", "Write to another name, or move it away.");
}

/** @throws SpotterError `invalid_input`, with the nearest name. */
export function recipeOf(name: string): Recipe {
  const recipe = Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined;
  if (recipe) return recipe;
  const names = Object.keys(RECIPES);
  const near = nearestName(name, names);
  throw new SpotterError(
    "invalid_input",
    `There is no recipe ${JSON.stringify(name)}.${near ? ` Did you mean ${near}?` : ""}`,
    { where: "--to", hint: `There is ${names.join(", ")}.` },
  );
}

/** The value of a column; where a text is wanted, numbers are written out. */
function valueOf(row: Row, index: number, column: string, isText: boolean): unknown {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value === undefined || value === null)
    throw refused(index, column, `is not there; the row has ${Object.keys(row).join(", ") || "no columns"}`);
  if (!isText || typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
    return String(value);
  throw refused(index, column, "is no text");
}

function refused(index: number, column: string, message: string): SpotterError {
  return new SpotterError("dataset_invalid", `Row ${index}: the column "${column}" ${message}.`, {
    where: column,
    hint: "Name the columns with --input-column and --output-column, or take another recipe.",
  });
}
