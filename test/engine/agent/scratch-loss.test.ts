import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchLoss } from "../../../engine/agent/scratch-loss.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

describe("scratchLoss", () => {
  it("is a container's failure once the folder or a file in it is gone, whatever it was told as", async () => {
    const dir = await mkdtemp(join(tmpdir(), "spotter-scratch-"));
    const missing = await readFile(join(dir, "rows.jsonl")).catch((error: unknown) => error);
    const lost = { code: "container_failed", retryable: true, where: dir };
    expect(scratchLoss(missing, dir)).toMatchObject({ ...lost, cause: missing });
    const wrapped = new SpotterError("model_not_found", "cannot be read", { cause: missing });
    expect(scratchLoss(wrapped, dir)).toMatchObject(lost);
    const other = new SpotterError("reward_failed", "no");
    expect(scratchLoss(other, dir)).toBe(other);
    expect(scratchLoss(new Error("ENOENT: /elsewhere"), dir)).not.toMatchObject(lost);
    await rm(dir, { recursive: true });
    expect(scratchLoss(new Error("odd"), dir)).toMatchObject(lost);
  });
});
