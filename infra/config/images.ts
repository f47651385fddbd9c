/**
 * Images that containers run, by digest: what was tested is what runs, whatever its tag comes to mean. None is built:
 * infra/bootstrap fetches our own programs when a container starts.
 */
export const IMAGES = {
  /** `node:24.21.0-bookworm-slim`, for x64 and ARM, from the mirror of Docker's own images that AWS keeps. */
  node: "public.ecr.aws/docker/library/node@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20",
} as const;

/**
 * Engines of other makers that a stack may have, by the image that `engineImages` names. Which one is known to nobody
 * beforehand, so there is no default.
 */
export const GPU_ENGINES = ["slime", "vllm"] as const;
export type GpuEngine = (typeof GPU_ENGINES)[number];

export function isGpuEngine(name: string): name is GpuEngine {
  return GPU_ENGINES.some((each) => each === name);
}

const HOST = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\\d+)?";
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
/** As a registry takes it: a host, a path, perhaps a tag for people, and the digest. */
const BY_DIGEST = new RegExp(
  `^(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*(?::\\w[\\w.-]{0,127})?@sha256:[0-9a-f]{64}$`,
);

export function isByDigest(image: string): boolean {
  return BY_DIGEST.test(image);
}
