import { describe, expect, it, onTestFinished } from "vitest";
import { getCheckpoint } from "../../../functions/checkpoints/records.ts";
import { testPlane } from "../../fakes/control-plane.ts";

describe("getCheckpoint", () => {
  it.each(["nope", "@1", "run@", "run@x", "\u0000@1", "a".repeat(5_000)])(
    "says how %j would be written",
    async (id) => {
      const { control } = await testPlane({ onEnd: onTestFinished });
      await expect(getCheckpoint(control, id)).rejects.toMatchObject({
        code: "checkpoint_not_found",
        hint: expect.stringContaining("written run@step") as string,
      });
    },
  );
});
