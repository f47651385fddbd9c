import * as z from "zod";
import { text, variants } from "./fields.ts";

/** The renderers that exist beside `auto` and `default`. Each takes options of its own, which pass through. */
export const RENDERERS = [
  "qwen3",
  "prime-qwen3",
  "minimax-m2",
  "glm-5.1",
  "glm-5.2",
  "glm-4.5",
  "qwen3.5",
  "qwen3.6",
  "qwen3-vl",
  "glm-5",
  "gpt-oss",
  "kimi-k2",
  "kimi-k2.5",
  "laguna-xs.2",
  "laguna-xs-2.1",
  "llama-3",
  "nemotron-3",
  "nemotron-3-ultra",
  "deepseek-v3",
  "deepseek-r1",
] as const;

const Auto = z.looseObject({ name: z.literal("auto") });
const Default = z.looseObject({
  name: z.literal("default"),
  tool_parser: text("How tool calls are read: qwen3, glm.", null),
  reasoning_parser: text("How reasoning is told from the answer: think.", null),
});
const Named = z.looseObject({ name: z.enum(RENDERERS) });

const members = [Auto, Default, Named] as const;

/** How messages become tokens, by the model's name unless said otherwise. */
export const renderer = variants(
  "name",
  members,
  "auto",
  "How messages become tokens: by the model's name (auto), by its chat template (default), or by a named renderer.",
);

/** The same, where it may be left out. Naming the table without a name means `auto`. */
export const optionalRenderer = z
  .discriminatedUnion("name", [...members])
  .nullable()
  .default(null)
  .meta({
    description:
      "Render with this renderer instead of the chat template. Templates that depend on positions need it.",
    defaultVariant: "auto",
  });
