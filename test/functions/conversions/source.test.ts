import { describe, expect, it, onTestFinished } from "vitest";
import { neededConversion } from "../../../functions/conversions/source.ts";
import { runSpec, type RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { fakeJob } from "../../fakes/job.ts";
import { launch, slimePlane, slimeSpec } from "./converting.ts";

async function needed(changes: Partial<RunSpecInput> = {}, runId = "a") {
  const plane = await slimePlane({ onEnd: onTestFinished });
  return neededConversion(plane.control, runId, runSpec.parse(await slimeSpec(plane, changes)));
}

describe("what has to be converted before a run", () => {
  it("is nothing where nobody asks for it", async () => {
    expect(await needed({ slime: {} })).toBeUndefined();
    expect(await needed({ engine: "onnx", slime: undefined })).toBeUndefined();
  });

  it("is the same for the same weights and command, and another thing for others", async () => {
    const one = await needed();
    expect(one).toMatchObject({ gpus: 1 });
    expect(await needed({}, "b")).toEqual(one);
    expect(await needed({ seed: 7, slime: { convertToMegatron: true, numRollout: 9 } }, "b")).toEqual(one);
    const revision = "e".repeat(64);
    expect(await needed({ model: { name: "Qwen/Qwen3.5-4B", revision } })).not.toEqual(one);
    expect(await needed({ model: { name: "Qwen/Qwen3-0.6B", revision: "f".repeat(64) } })).not.toEqual(one);
  });

  it("is each run's own where a name may mean other weights tomorrow", async () => {
    const model = { name: "Qwen/Qwen3.5-4B", revision: "main" };
    expect(await needed({ model }, "a")).toEqual(await needed({ model }, "a"));
    expect(await needed({ model }, "a")).not.toEqual(await needed({ model }, "b"));
  });

  it("has a GPU for each process of a large model", async () => {
    const large = { name: "Qwen/Qwen3-30B-A3B", revision: "f".repeat(64) };
    expect(await needed({ model: large, hardware: { gpu: "H100", count: 8 } })).toMatchObject({ gpus: 8 });
  });

  it("is a checkpoint's weights, and nothing where its state is gone on from", async () => {
    const plane = await slimePlane({ onEnd: onTestFinished });
    const id = await launch(plane, { slime: {} });
    const job = fakeJob(plane, `train-${id}-a1`, 1);
    await job.heartbeat();
    const { id: checkpoint } = await job.save(1);
    const from = async (mode: "weights" | "continue") =>
      neededConversion(
        plane.control,
        "a",
        runSpec.parse(await slimeSpec(plane, { startFrom: { checkpoint, mode } })),
      );
    expect(await from("weights")).not.toEqual(await needed());
    // Without the state of slime it could not go on at all.
    await expect(from("continue")).rejects.toMatchObject({ code: "checkpoint_mismatch" });
  });

  it("is refused at launch where the home has no place for it alone", async () => {
    const plane = await slimePlane({
      onEnd: onTestFinished,
      config: {
        checkPlace: (kind) => {
          if (kind === "convert")
            throw new SpotterError("invalid_input", "This stack has no H100 instances.");
        },
      },
    });
    for (const setting of ["convertToMegatron", "convertToHf"]) {
      const spec = await slimeSpec(plane, { slime: { [setting]: true } });
      for (const path of ["/runs", "/runs/estimate"]) {
        const response = await plane.call("POST", path, spec);
        expect([path, response.status, await response.json()]).toMatchObject([
          ...[path, 400],
          { error: { code: "invalid_input", where: `slime.${setting}` } },
        ]);
      }
    }
  });
});
