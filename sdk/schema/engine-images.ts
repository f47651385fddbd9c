import * as z from "zod/mini";
import { SpotterError } from "./errors.ts";

const HOST_PART = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[0-9A-Fa-f:]+\\])(?::\\d+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const TAG = "\\w[\\w.-]{0,127}";
const DIGEST = "sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}";
/** As Docker reads it: a registry, a path of small letters, a tag, a digest. */
const REFERENCE = new RegExp(
  `^(?:${HOST}/)?(${PATH_PART}(?:/${PATH_PART})*)(?::${TAG})?(?:@(?:${DIGEST}))?$`,
);
const MAX_CHARACTERS = 255;

/** An image's name as Docker takes it, such as `vllm/vllm-openai:v0.33.0` or `name@sha256:…`. */
const imageName = z
  .string()
  .check(z.refine(isImageName, { error: "is no name of an image, such as vllm/vllm-openai:v0.33.0" }));

/** The image of each engine that runs in Docker; one without an image is not offered. */
export const engineImages = z.object({ slime: z.optional(imageName), vllm: z.optional(imageName) });
export type EngineImages = z.infer<typeof engineImages>;

export function isImageName(text: string): boolean {
  const [before = ""] = text.split("@");
  return before.length <= MAX_CHARACTERS && REFERENCE.test(text);
}

/**
 * The image that a flag or a variable names.
 *
 * @throws SpotterError `invalid_input` at what named it: Docker would not take it, which a launch would find out late
 */
export function imageFrom(where: string, text: string | undefined): string | undefined {
  if (text === undefined || isImageName(text)) return text;
  throw new SpotterError(
    "invalid_input",
    `${where} is ${JSON.stringify(text)}, which is no name of an image.`,
    {
      where,
      hint: "Write what `docker pull` takes, such as vllm/vllm-openai:v0.33.0 or NAME@sha256:DIGEST.",
    },
  );
}
