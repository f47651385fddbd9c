import * as z from "zod/mini";
import type { SlimeSettings } from "./schema/engines/slime-settings.ts";

/** What trains, where the recipe leaves it open. */
export interface EngineParams {
  /** The embedded engine, or slime on GPUs (docs/engines.md). Default: what the recipe says, else onnx. */
  engine?: "onnx" | "slime";
  /** Settings of slime by its own names, beside a recipe that is not `recipes.slime`. They win over what that says. */
  slime?: SlimeSettings;
}

/** The settings themselves are checked where the engine is known. */
export const engineParams = {
  engine: z.optional(z.enum(["onnx", "slime"])),
  slime: z.optional(z.record(z.string(), z.unknown())),
};
