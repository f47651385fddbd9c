import * as z from "zod/mini";

/** `hf`: a Hugging Face folder. `gguf`: a GGUF file. Both with an adapter merged into its model. `peft`: the adapter. */
export const exportFormat = z.enum(["hf", "gguf", "peft"]);
export type ExportFormat = z.infer<typeof exportFormat>;

/** How numbers are stored; `q8_0` in GGUF files only. */
export const exportType = z.enum(["f32", "f16", "bf16", "q8_0"]);
export type ExportType = z.infer<typeof exportType>;

/** What the process that writes models is told. */
export const exportRequest = z.strictObject({
  /** A model of the package, or the absolute path of a folder or GGUF file. */
  model: z.string(),
  /** Merged into the weights. */
  adapterDir: z.optional(z.string()),
  format: z.enum(["hf", "gguf"]),
  type: exportType,
  /** Absolute path of what is to be made. */
  output: z.string(),
  name: z.string(),
});
export type ExportRequest = z.infer<typeof exportRequest>;

/** What it answers. */
export const exported = z.object({
  /** Absolute path of the folder or file. */
  path: z.string(),
  /** What readers of it will do otherwise than the model it came from. */
  warnings: z.array(z.string()),
});
export type Exported = z.infer<typeof exported>;
