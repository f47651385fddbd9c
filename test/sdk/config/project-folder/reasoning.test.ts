import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../../engine/onnx/text/chat-template.ts";
import { CATALOGUE } from "../../../../sdk/config/project-folder/catalogue.ts";
import { REASONING_MODES } from "../../../../sdk/config/project-folder/config-schema.ts";
import {
  reasoningMeaning,
  type ReasoningMode,
  templateKwargs,
} from "../../../../sdk/config/project-folder/reasoning.ts";
import { resolveProject } from "../../../../sdk/config/project-folder/resolve-project.ts";
import { BASE, withSection } from "./check.ts";
import { projectFolder } from "./folder.ts";

const MODES: readonly (ReasoningMode | null)[] = [null, ...REASONING_MODES];

/**
 * How the chat template of a family asks for thinking, told in as few words as it takes: the variable it reads, and what
 * it ends a prompt with.
 */
const TEMPLATES: Readonly<Record<string, string>> = {
  qwen3:
    "{%- if enable_thinking is defined and enable_thinking is false -%}<think></think>{%- else -%}free{%- endif -%}",
  deepseek: "{%- if thinking -%}<think>{%- else -%}</think>{%- endif -%}",
  "gpt-oss": "Reasoning: {{ reasoning_effort | default('medium') }}",
  "kimi-k2": "<think>",
  llama3: "none",
  "spotter-nano": "{%- if enable_thinking -%}/think{%- else -%}quiet{%- endif -%}",
};

interface Row {
  model: string;
  /** What a prompt ends with, by mode; modes with the same end stand together. A mode that is left out is an error. */
  ends: Readonly<Record<string, readonly (ReasoningMode | null)[]>>;
  /** Modes that change nothing, with a warning. */
  warned?: readonly ReasoningMode[];
}

const OFF = ["disabled", "none"] as const;
const EFFORTS = ["low", "medium", "high"] as const;

const TABLE: readonly Row[] = [
  { model: "Qwen/Qwen3-8B", ends: { free: [null, ...EFFORTS], "<think></think>": OFF } },
  {
    model: "Qwen/Qwen3-4B-Instruct-2507",
    ends: { free: MODES },
    warned: ["minimal", ...EFFORTS, "xhigh"],
  },
  { model: "deepseek-ai/DeepSeek-V3.1", ends: { "</think>": [null, ...OFF], "<think>": EFFORTS } },
  {
    model: "openai/gpt-oss-20b",
    ends: {
      "Reasoning: low": ["low"],
      "Reasoning: medium": [null, "medium", ...OFF],
      "Reasoning: high": ["high"],
    },
    warned: OFF,
  },
  { model: "moonshotai/Kimi-K2-Thinking", ends: { "<think>": [null, "minimal", ...EFFORTS, "xhigh"] } },
  {
    model: "meta-llama/Llama-3.1-8B-Instruct",
    ends: { none: MODES },
    warned: ["minimal", ...EFFORTS, "xhigh"],
  },
  { model: "spotter/nano", ends: { quiet: [null, ...OFF], "/think": EFFORTS } },
];

describe("reasoning_mode (A18)", () => {
  it.each(TABLE)(
    "of $model ends prompts as its family's template expects",
    ({ model, ends, warned = [] }) => {
      const { family, reasoning } = CATALOGUE[model] ?? { family: "", reasoning: "none" };
      const template = new ChatTemplate(TEMPLATES[family] ?? "");
      for (const mode of MODES) {
        const meaning = reasoningMeaning(mode, reasoning);
        const [end] = Object.entries(ends).find(([, modes]) => modes.includes(mode)) ?? [];
        const severity = meaning.kind === "refused" ? meaning.severity : undefined;
        const isWarned = mode !== null && warned.includes(mode);
        expect([mode, severity]).toEqual([
          mode,
          isWarned ? "warning" : end === undefined ? "error" : undefined,
        ]);
        if (end === undefined) continue;
        expect([mode, template.render([], { variables: templateKwargs(meaning, family) })]).toEqual([
          mode,
          end,
        ]);
      }
    },
  );

  it("is told for every family of the catalogue", () => {
    const families = new Set(Object.values(CATALOGUE).map(({ family }) => family));
    expect(new Set(TABLE.map(({ model }) => CATALOGUE[model]?.family))).toEqual(families);
    const kinds = new Set(Object.values(CATALOGUE).map(({ reasoning }) => reasoning));
    expect(new Set(TABLE.map(({ model }) => CATALOGUE[model]?.reasoning))).toEqual(kinds);
  });

  it("goes on to the run, by the word of the model's family", async () => {
    const kwargsOf = async (model: string, mode: string) => {
      const config = `${withSection(`model: { path: ${model} }`)}rollout: { reasoning_mode: ${mode} }\n`;
      const { runs } = await resolveProject(projectFolder({ "config.yml": config }));
      return (runs[0]?.plan.spec.rollout as { chatTemplateKwargs?: unknown } | undefined)?.chatTemplateKwargs;
    };
    expect(await kwargsOf("Qwen/Qwen3-8B", "disabled")).toEqual({ enable_thinking: false });
    expect(await kwargsOf("deepseek-ai/DeepSeek-V3.1", "high")).toEqual({ thinking: true });
    expect(await kwargsOf("openai/gpt-oss-20b", "low")).toEqual({ reasoning_effort: "low" });
    expect(await kwargsOf("moonshotai/Kimi-K2-Thinking", "null")).toEqual({});
  });
});

describe("a pass of the trainer", () => {
  it.each([
    ["128", 64],
    ["1024", 8],
    ["8192", 1],
    ["40000", 1],
    ["8", 128],
  ])("with a window of %s holds %i conversations: memory grows with both", async (window, expected) => {
    const { runs } = await resolveProject(
      projectFolder({ "config.yml": `${BASE}rollout: { max_context_window: ${window} }\n` }),
    );
    expect(runs[0]?.plan.spec.trainer).toMatchObject({ microBatchSize: expected });
  });
});

describe("include_thinking and rollout_timeout", () => {
  const rolloutOf = async (rollout: string) => {
    const { runs, findings } = await resolveProject(projectFolder({ "config.yml": `${BASE}${rollout}` }));
    const { rollout: spec } = runs[0]?.plan.spec ?? {};
    return { spec, codes: findings.map(({ code }) => code) };
  };

  it("drop earlier thinking and end after an hour where nothing is said (A21, A22)", async () => {
    const { spec } = await rolloutOf("");
    expect(spec).toMatchObject({ includeThinking: false, rolloutTimeoutMs: 3_600_000 });
    const nothing = await rolloutOf("rollout: { rollout_timeout: null }\n");
    expect(nothing.spec).toMatchObject({ rolloutTimeoutMs: 3_600_000 });
  });

  it("are what is written", async () => {
    const { spec, codes } = await rolloutOf("rollout: { include_thinking: true, rollout_timeout: 90 }\n");
    expect(spec).toMatchObject({ includeThinking: true, rolloutTimeoutMs: 90_000 });
    expect(codes).not.toContain("not_applied");
  });
});
