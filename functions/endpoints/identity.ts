import type { Endpoint, LaunchEndpoint } from "../../sdk/schema/endpoint.ts";
import { hardwareText } from "../cost/pricing.ts";
import { sha256Of } from "../records/hash.ts";

type Identified = Pick<Endpoint, "model" | "checkpoint" | "engine" | "vllm" | "hardware">;

/** What makes two launches the same: model, checkpoint and engine, as name and value pairs. */
export function identityOf(endpoint: Identified): Record<string, string | undefined> {
  return {
    model: endpoint.model.name,
    "model revision": endpoint.model.revision,
    checkpoint: endpoint.checkpoint,
    engine: endpoint.engine,
    ...(endpoint.vllm && { "engine settings": JSON.stringify(endpoint.vllm) }),
    // Left out where none is asked for: names that were derived before there was a choice stay the same.
    ...(endpoint.hardware && { hardware: hardwareText(endpoint.hardware) }),
  };
}

/** One sentence for each part that differs; empty for the same identity. */
export function identityDifferences(existing: Identified, asked: Identified): string[] {
  const [before, after] = [identityOf(existing), identityOf(asked)];
  return Object.keys({ ...before, ...after })
    .filter((key) => before[key] !== after[key])
    .map((key) => `${key} is ${before[key] ?? "none"}, asked was ${after[key] ?? "none"}`);
}

/** The same identity gives the same name: the last part of the model's name and twelve digits of a hash. */
export function defaultName(
  launch: Pick<LaunchEndpoint, "model" | "checkpoint" | "engine" | "vllm" | "hardware">,
): string {
  const stem = (launch.model.name.split("/").filter(Boolean).at(-1) ?? "model")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 40);
  const hash = sha256Of(JSON.stringify(Object.entries(identityOf(launch)))).slice(0, 12);
  return `${stem || "model"}-${hash}`;
}
