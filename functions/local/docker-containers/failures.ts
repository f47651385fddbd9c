import type { Failure } from "../../../sdk/schema/errors.ts";
import { failureOf } from "../local-containers/failure-of.ts";
import { DockerError } from "./docker-cli.ts";

/** In this order: what Docker says of GPUs is often said of an image, too. */
const PATTERNS: readonly (readonly [RegExp, Omit<Failure, "message">])[] = [
  [
    /could not select device driver|nvidia-container-cli|unknown or invalid runtime name: nvidia|failed to discover GPU|unresolvable CDI devices/i,
    {
      code: "gpu_missing",
      hint: "Install the NVIDIA Container Toolkit, then `sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker`. `docker run --rm --gpus all ubuntu nvidia-smi` must list the GPUs.",
    },
  ],
  [
    /pull access denied|repository does not exist|manifest (for .* )?(unknown|not found)|no such image|unable to find image|invalid reference format|no matching manifest|not found: manifest|unauthorized|no basic auth credentials/i,
    {
      code: "image_unavailable",
      hint: "Check the name given to `spotter up --gpu`, or the login of its registry; `docker pull` shows more.",
    },
  ],
  [
    /no space left on device/i,
    {
      code: "disk_full",
      hint: "`docker system df` tells what takes the room; `docker image prune` frees some.",
    },
  ],
];

/** That a container does not run any more, or is gone. */
export function isOver(error: unknown): boolean {
  return isUnknown(error) || (error instanceof DockerError && /is not running/i.test(error.words));
}

/** That Docker knows no such container. */
export function isUnknown(error: unknown): boolean {
  return error instanceof DockerError && /no such (container|object)/i.test(error.words);
}

/** That there is a container of this name. */
export function isNameTaken(error: unknown): boolean {
  return error instanceof DockerError && /container name .* is already in use/i.test(error.words);
}

/** Why a container never ran, from what Docker said. */
export function launchFailure(error: unknown, image: string): Failure {
  const { failure } = failureOf(error);
  if (failure !== undefined) return failure;
  const words = error instanceof DockerError ? error.words : String(error);
  const known = PATTERNS.find(([pattern]) => pattern.test(words))?.[1];
  const message = `Docker could not start a container of ${image}: ${lastLine(words)}`;
  return { code: "container_failed", ...known, message };
}

/** What a person should read first: the line of the error, not those of the progress before it or the help after it. */
function lastLine(words: string): string {
  const lines = words
    .split("\n")
    .map((line) => line.trim())
    .filter(
      (line) => line !== "" && !/^(See 'docker|Run 'docker|Unable to find image .* locally)/.test(line),
    );
  return (
    lines.find((line) => /error|denied|cannot|invalid/i.test(line)) ?? lines.at(-1) ?? "it did not say why."
  );
}
