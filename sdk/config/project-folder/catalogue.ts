import * as z from "zod/mini";

/** How a model thinks. `hybrid` thinks unless told not to; `effort` takes low, medium or high. */
export const REASONING_KINDS = ["none", "hybrid", "effort", "always"] as const;

/** What a project has to know of a model. Unknown facts are left out, and not checked. */
export const catalogueEntry = z.strictObject({
  /** Largest rank of a LoRA adapter. */
  maxRank: z.number().check(z.int(), z.gte(1)),
  /** Tokens that its position embeddings reach. */
  context: z.number().check(z.int(), z.gte(1)),
  /** Whether its chat template takes tools. */
  tools: z._default(z.boolean(), true),
  vision: z._default(z.boolean(), false),
  reasoning: z._default(z.enum(REASONING_KINDS), "none"),
  /** Models of one family share a tokenizer, so that one can teach the other. */
  family: z.string(),
});
export type CatalogueEntry = z.infer<typeof catalogueEntry>;

export const catalogueFile = z.strictObject({ models: z.record(z.string(), catalogueEntry) });
export type Catalogue = Readonly<Record<string, CatalogueEntry>>;

type Facts = Partial<CatalogueEntry> & Pick<CatalogueEntry, "maxRank" | "context" | "family">;

function entries(shared: Facts, names: readonly string[]): [string, CatalogueEntry][] {
  return names.map((name) => [name, z.parse(catalogueEntry, shared)]);
}

const QWEN = { family: "qwen3" } as const;
const LLAMA = { family: "llama3", maxRank: 128, context: 131_072 } as const;
const DEEPSEEK = { family: "deepseek", maxRank: 64, context: 163_840 } as const;

/** The models of the project format. */
export const CATALOGUE: Catalogue = Object.fromEntries([
  ...entries({ ...QWEN, maxRank: 128, context: 40_960, reasoning: "hybrid" }, [
    "Qwen/Qwen3-8B",
    "Qwen/Qwen3-32B",
  ]),
  ...entries({ ...QWEN, maxRank: 128, context: 32_768, tools: false }, ["Qwen/Qwen3-8B-Base"]),
  ...entries({ ...QWEN, maxRank: 128, context: 262_144 }, ["Qwen/Qwen3-4B-Instruct-2507"]),
  ...entries({ ...QWEN, maxRank: 64, context: 40_960, reasoning: "hybrid" }, ["Qwen/Qwen3-30B-A3B"]),
  ...entries({ ...QWEN, maxRank: 64, context: 32_768, tools: false }, ["Qwen/Qwen3-30B-A3B-Base"]),
  ...entries({ ...QWEN, maxRank: 64, context: 262_144 }, [
    "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "Qwen/Qwen3-235B-A22B-Instruct-2507",
  ]),
  ...entries({ ...QWEN, maxRank: 64, context: 262_144, vision: true }, [
    "Qwen/Qwen3-VL-30B-A3B-Instruct",
    "Qwen/Qwen3-VL-235B-A22B-Instruct",
  ]),
  ...entries(LLAMA, ["meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"]),
  ...entries({ ...LLAMA, tools: false }, [
    "meta-llama/Llama-3.1-70B",
    "meta-llama/Llama-3.1-8B",
    "meta-llama/Llama-3.2-3B",
    "meta-llama/Llama-3.2-1B",
  ]),
  ...entries({ ...DEEPSEEK, reasoning: "hybrid" }, ["deepseek-ai/DeepSeek-V3.1"]),
  ...entries({ ...DEEPSEEK, tools: false }, ["deepseek-ai/DeepSeek-V3.1-Base"]),
  ...entries({ family: "gpt-oss", maxRank: 32, context: 131_072, tools: false, reasoning: "effort" }, [
    "openai/gpt-oss-120b",
    "openai/gpt-oss-20b",
  ]),
  ...entries({ family: "kimi-k2", maxRank: 32, context: 262_144, reasoning: "always" }, [
    "moonshotai/Kimi-K2-Thinking",
  ]),
  // Comes with the package: the whole loop on one machine, in about a minute.
  ...entries({ family: "spotter-nano", maxRank: 128, context: 1_024, reasoning: "hybrid" }, ["spotter/nano"]),
]);

/** What is known of a model; names such as `constructor` mean none. */
export function factsOf(catalogue: Catalogue, name: string): CatalogueEntry | undefined {
  return Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
}

/** The largest rank of a model whose facts are not known. */
export const MAX_RANK = 1_024;

/** Models that others serve: they answer, and cannot be trained. */
export function isApiModel(name: string): boolean {
  return /^(?:(?:openai\/)?(?:gpt-[345]|o[134]\b|chatgpt)|claude|gemini|grok)/i.test(name);
}

export type ModelNameKind = "catalogue" | "folder" | "record" | "unknown";

/** What a model's name may be: of the catalogue, a folder, or something of this gym's own (a run, an endpoint). */
export function modelNameKind(name: string, catalogue: Catalogue): ModelNameKind {
  if (Object.hasOwn(catalogue, name)) return "catalogue";
  if (/^(?:\.{0,2}\/|~\/|\.{1,2}$)/.test(name)) return "folder";
  if (name === "" || name.includes("/") || isApiModel(name)) return "unknown";
  return /^[A-Za-z0-9][\w.@-]*$/.test(name) ? "record" : "unknown";
}

/** Written as ids are: a run's, one of its checkpoints, an imported model's. */
export function looksLikeId(name: string): boolean {
  const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(name);
  return isUuid || /^[\w.-]+@\d+$/.test(name) || /^run-[\w-]+$/.test(name);
}
