import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FIXTURES = join(import.meta.dirname, "..", "..", "test", "fixtures", "engine");
const YES = "yes";
const NO = "";

interface Family {
  versions: Record<string, string>;
  full?: unknown;
  lora?: unknown;
  greedy?: unknown[];
}
interface Named {
  cases: { name: string; without?: unknown }[];
}
interface Optimizers {
  cases: { setup: { type?: string; optimizer?: { type?: string } } & Record<string, unknown> }[];
}
interface Gguf {
  types: Record<string, string>;
  written: Record<string, string>;
  tokenizers: Record<string, unknown>;
}

/** The tables of docs/engine.md, from the fixtures that the tests run over: what has no fixture is in no table. */
export function engineTables(): string {
  return [
    "### Families × checks",
    "",
    familyTable(),
    "",
    "Within 1e-5 of the largest value of a tensor (max |a − b| ÷ max |b|), against Transformers and PEFT in float32, by test/engine/onnx/models/families.test.ts; tokenizers token for token, by test/engine/onnx/text; GGUF by test/engine/onnx/weights/gguf.",
    "",
    "### Algorithms × checks",
    "",
    algorithmTable(),
    "",
    `GGUF tensors that are read, bit for bit as the gguf package reads them: ${Object.keys(gguf().types).join(", ")}. Written: ${Object.keys(gguf().written).join(", ")}.`,
  ].join("\n");
}

function familyTable(): string {
  const folder = join(FIXTURES, "families");
  const rows = readdirSync(folder).map((name) => {
    const { versions, full, lora, greedy } = read<Family>(`families/${name}/reference.json`);
    const has = (gradients: string) => existsSync(join(folder, name, `gradients-${gradients}.safetensors`));
    const tokenizer = name.replace(/\d+$/, "");
    return [
      name,
      mark(full !== undefined),
      mark(has("full")),
      mark(lora !== undefined && has("lora")),
      mark((greedy ?? []).length > 0),
      mark([name, tokenizer].some((each) => existsSync(join(FIXTURES, "tokenizers", each)))),
      Object.entries(versions)
        .map(([tool, version]) => `${tool} ${version}`)
        .join(", "),
    ];
  });
  return table(
    [
      "Family",
      "logits, log-probabilities",
      "gradients, all weights",
      "the same, LoRA",
      "greedy text, alone = batched",
      "tokenizer",
      "compared with",
    ],
    rows,
  );
}

function algorithmTable(): string {
  const losses = read<Named>("policy-losses.json").cases.map(({ name, without }) => [
    name,
    "value and gradients, PyTorch float64",
    mark(without !== undefined),
  ]);
  const whole = read<{ name: string; adapter: unknown }[]>("cases.json").map(({ name }) => [
    name,
    "value and gradients of the whole model, PyTorch float64 and finite differences",
    NO,
  ]);
  const optimizers = read<Optimizers>("optimizers.json").cases.map(({ setup }, index) => [
    `${String(setup.type ?? setup.optimizer?.type ?? `optimizer ${index}`)}${nuances(setup)}`,
    "three steps, against the reference",
    NO,
  ]);
  const adamw = ["adamw", "three steps with clipping, torch.optim.AdamW", NO];
  return table(
    ["Case", "Agrees in", "Another one without its term"],
    [...losses, ...whole, adamw, ...optimizers],
  );
}

function nuances(setup: Record<string, unknown>): string {
  const told = Object.entries(setup)
    .filter(
      ([name, value]) =>
        ["momentum", "nesterov", "weightDecay"].includes(name) && value !== 0 && value !== false,
    )
    .map(([name, value]) => (value === true ? name : `${name} ${String(value)}`));
  return told.length === 0 ? "" : ` (${told.join(", ")})`;
}

function gguf(): Gguf {
  return read<Gguf>("gguf/reference.json");
}

function mark(isSo: boolean): string {
  return isSo ? YES : NO;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(join(FIXTURES, path), "utf8")) as T;
}
