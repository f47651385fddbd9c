import * as z from "zod/mini";

/** An image's name as Docker takes it, such as `vllm/vllm-openai:v0.33.0` or `name@sha256:…`. */
const imageName = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9][\w.:/@-]{0,500}$/, "is no name of an image, such as vllm/vllm-openai:v0.33.0"),
  );

/** The image of each engine that runs in Docker; one without an image is not offered. */
export const engineImages = z.object({ slime: z.optional(imageName), vllm: z.optional(imageName) });
export type EngineImages = z.infer<typeof engineImages>;
