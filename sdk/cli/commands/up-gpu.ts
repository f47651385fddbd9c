import type { Daemon } from "../../local/find-daemon.ts";
import { imageFrom, type EngineImages } from "../../schema/engine-images.ts";
import { SpotterError } from "../../schema/errors.ts";

export interface GpuOptions {
  gpu?: boolean;
  slimeImage?: string;
  vllmImage?: string;
}

/**
 * The images that `spotter up` was told, or "none" without --gpu. Nothing is taken for granted: which image fits a
 * machine's driver only its owner knows.
 */
export function imagesOf(options: GpuOptions, environment: NodeJS.ProcessEnv): EngineImages | "none" {
  const { gpu, slimeImage, vllmImage } = options;
  if (gpu !== true) {
    const alone = slimeImage !== undefined ? "--slime-image" : vllmImage !== undefined ? "--vllm-image" : "";
    if (alone === "") return "none";
    throw new SpotterError("invalid_input", `${alone} does nothing without --gpu.`, {
      where: alone,
      hint: "Add --gpu: the engine then runs in Docker.",
    });
  }
  const named = (flag: string, given: string | undefined, variable: string): string | undefined =>
    given === undefined ? imageFrom(variable, environment[variable] || undefined) : imageFrom(flag, given);
  const slime = named("--slime-image", slimeImage, "SPOTTER_SLIME_IMAGE");
  const vllm = named("--vllm-image", vllmImage, "SPOTTER_VLLM_IMAGE");
  if (slime !== undefined || vllm !== undefined)
    return { ...(slime !== undefined && { slime }), ...(vllm !== undefined && { vllm }) };
  throw new SpotterError("invalid_input", "--gpu has no image of an engine to run.", {
    where: "--gpu",
    hint: "Add --vllm-image IMAGE (or SPOTTER_VLLM_IMAGE) to serve, --slime-image IMAGE (or SPOTTER_SLIME_IMAGE) to train.",
  });
}

/**
 * A daemon that is up already keeps what it was started with.
 *
 * @throws SpotterError `conflict`: it was asked for other images
 */
export function checkImages(
  { url, images }: Pick<Daemon, "url" | "images">,
  wanted: EngineImages | "none",
): void {
  if (wanted === "none" || (images?.slime === wanted.slime && images?.vllm === wanted.vllm)) return;
  const has = Object.entries(images ?? {}).map(([engine, image]) => `${engine} in ${image}`);
  throw new SpotterError(
    "conflict",
    `The daemon at ${url} runs with ${has.length === 0 ? "no engine in Docker" : has.join(" and ")}.`,
    { hint: "`spotter down` ends it and all it runs; then `spotter up --gpu` starts one with these images." },
  );
}
