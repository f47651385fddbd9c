import type { ConfigView } from "./config-view.ts";
import type { Remark } from "./finding.ts";

/** Optimizer steps over that many examples in each epoch; the last batch of an epoch may be smaller. */
export function stepsOf(examples: number, view: ConfigView): number | undefined {
  const batch = view.number("data.batch_size");
  const epochs = view.number("trainer.num_epochs");
  if (batch === undefined || epochs === undefined) return undefined;
  return Math.ceil(examples / batch) * epochs;
}

/** Rows that are learnt from, where a share of them is held out. */
export function trainRows(rows: number, view: ConfigView): number {
  return rows - (isSplit(view) ? Math.floor(rows * (view.number("data.val_split") ?? 0)) : 0);
}

function isSplit(view: ConfigView): boolean {
  return ["sft", "midtrain"].includes(view.text("dataset_type") ?? "");
}

/** What of config.yml does not fit the number of rows, and of the answers in them. */
export function sizeRules(rows: number, answers: number, view: ConfigView): Remark[] {
  const batch = view.number("data.batch_size") ?? 1;
  if (rows < batch)
    return [
      {
        code: "rows_few",
        path: ["data", "batch_size"],
        message: `is ${batch}; ${view.text("data.train_file") ?? "the file"} has ${rows} ${rows === 1 ? "row" : "rows"}`,
        hint: `Write ${rows} or less, or add rows.`,
      },
    ];
  const examples = view.text("dataset_type") === "sft" ? Math.max(rows, answers) : rows;
  const steps = stepsOf(trainRows(examples, view), view);
  if (steps === undefined) return [];
  const remarks: Remark[] = [];
  const late = (path: (string | number)[], value: unknown, what: string) => {
    if (typeof value !== "number" || value <= steps) return;
    remarks.push({
      code: "steps_short",
      severity: "warning",
      path,
      message: `is ${value}; the training has ${steps} steps, so ${what}`,
      hint: `Write ${Math.max(1, Math.floor(steps / 2))}, or train for longer.`,
    });
  };
  if (trainRows(rows, view) === rows && (view.number("data.val_split") ?? 0) > 0 && isSplit(view))
    remarks.push({
      code: "val_split_small",
      severity: "warning",
      path: ["data", "val_split"],
      message: `of ${rows} rows is less than one: nothing is held out`,
      hint: `Write ${Math.min(0.5, Math.ceil(100 / rows) / 100)} or more, or remove it.`,
    });
  late(["trainer", "save_step"], view.number("trainer.save_step"), "it saves at the end only");
  view.list("evals").forEach((each, index) => {
    const { step } = (each ?? {}) as { step?: unknown };
    late(["evals", index, "step"], step, "this eval never runs");
  });
  return remarks;
}
