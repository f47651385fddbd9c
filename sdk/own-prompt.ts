import type { DatasetRow } from "./schema/dataset.ts";
import type { Row } from "./dataset-rows.ts";

/** The prompt that a row brings along: its `messages`, or its `prompt` as messages or as a text. */
export function ownPrompt(row: Row, systemPrompt: string | undefined): DatasetRow["prompt"] {
  const own = row.messages ?? row.prompt;
  if (typeof own === "string") return [...systemMessages(systemPrompt), { role: "user", content: own }];
  if (Array.isArray(own)) return [...systemMessages(systemPrompt), ...(own as DatasetRow["prompt"])];
  throw new Error(
    "no inputColumn, promptTemplate or format() is set and there is no messages or prompt column",
  );
}

export function systemMessages(systemPrompt: string | undefined): DatasetRow["prompt"] {
  return systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }];
}
