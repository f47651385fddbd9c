import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ENTRYPOINTS } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";

interface Case {
  id: string;
  root_files: string[];
  argv: (string | { file: string; ext: string })[];
  result: "OK" | "ERR";
  detail: string;
}

/** Where the documented form works here and fails there, or the other way round; docs/coverage.md has the list. */
const EXCEPTIONS: Record<string, { why: string; expected: Record<string, unknown> }> = {
  R002: {
    why: "a list takes words under an optional section, as documented",
    expected: { "trainer.model.lora.target_modules": ["q_proj", "k_proj", "v_proj"] },
  },
  R005: {
    why: "an index path reaches into an array of tables, as documented",
    expected: { "orchestrator.train.env.0.args": { dataset_name: "openai/gsm8k" } },
  },
  R062: { why: "a switch takes no file: @ after it is a root file", expected: { dry_run: true } },
};

const all = JSON.parse(
  readFileSync(new URL("../../../../fixtures/prime-rl/config-cases.json", import.meta.url), "utf8"),
) as Case[];
const cases = all.filter(({ id }) => id.startsWith("R"));

async function run({ root_files, argv }: Case) {
  const files = new Map<string, string>();
  const named = (text: string, extension: string) => {
    const name = `${files.size}.${extension}`;
    files.set(name, text);
    return name;
  };
  const roots = root_files.flatMap((text) => ["@", named(text, "toml")]);
  const words = argv.map((word) => (typeof word === "string" ? word : named(word.file, word.ext)));
  return resolve(ENTRYPOINTS.rl, [...roots, ...words], {
    readBytes: (name) => Buffer.from(files.get(name) ?? ""),
  });
}

const at = (tree: unknown, path: string) =>
  path.split(".").reduce<unknown>((held, step) => (held as Record<string, unknown> | null)?.[step], tree);

/** `trainer.optim.lr=1e-05; inference=null` → the expected value at each path. */
function expectations(detail: string): [string, unknown][] {
  return detail.split("; ").map((part) => {
    const [, path = "", json = ""] = /^([\w.]+)=(.*)$/s.exec(part) ?? [];
    return [path, JSON.parse(json)];
  });
}

/** The names after `--` at which the other side refuses, as paths; the root and the variants' names left out. */
function refusedAt(detail: string): string[] {
  return detail
    .split(" ¶ ")
    .map((line) => /^--(\S+)$/.exec(line.trim())?.[1])
    .filter((name) => name !== undefined)
    .map((name) => name.replaceAll("-", "_").replace(/\[(\d+)\]/g, ".$1"))
    .map((path) => path.replace(".algo.opd", ".algo"));
}

const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
};

describe("the given cases over a real configuration", () => {
  it("are all there", () => expect(cases).toHaveLength(40));

  it.each(cases.map((each) => [each.id, each] as const))("%s", async (id, given) => {
    const { config, findings } = await run(given);
    const errors = findings.filter(({ severity }) => severity === "error");
    const exception = EXCEPTIONS[id];
    if (exception || given.result === "OK") {
      expect(errors).toEqual([]);
      const expected = exception ? Object.entries(exception.expected) : expectations(given.detail);
      expect(expected.length).toBeGreaterThan(0);
      for (const [path, value] of expected)
        expect([path, withoutNulls(at(config, path))]).toEqual([path, withoutNulls(value)]);
    } else {
      expect(config).toBeNull();
      expect(errors.length).toBeGreaterThan(0);
      for (const path of refusedAt(given.detail))
        expect(
          errors.map((error) => error.path).filter((own) => `${own}.`.startsWith(`${path}.`)),
        ).not.toEqual([]);
    }
  });
});
