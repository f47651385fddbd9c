import type { RunSpecInput } from "../../sdk/schema/run-spec.ts";
import { sha256Of } from "../../functions/records/hash.ts";
import type { TestPlane } from "./control-plane.ts";

export const DATASET = ["rain", "snow", "moss"]
  .map((topic) =>
    JSON.stringify({ prompt: [{ role: "user", content: `Write about ${topic}.` }], row: { topic } }),
  )
  .join("\n");
export const DATASET_SHA = sha256Of(DATASET);
export const CODE = "export default {};";
export const CODE_SHA = sha256Of(CODE);

/** Uploads a dataset and user code, and gives a run spec that refers to them. */
export async function preparedSpec(plane: Pick<TestPlane, "json">): Promise<RunSpecInput> {
  await plane.json("PUT", `/datasets/${DATASET_SHA}?name=topics`, DATASET);
  await plane.json("PUT", `/user-code/${CODE_SHA}?name=rewards.ts`, CODE);
  return {
    kind: "rl",
    model: { name: "spotter/nano" },
    dataset: { sha256: DATASET_SHA, rows: 3 },
    rewards: { code: { sha256: CODE_SHA } },
    algorithm: { kind: "grpo" },
    trainer: { steps: 4, saveEvery: 2 },
  };
}
