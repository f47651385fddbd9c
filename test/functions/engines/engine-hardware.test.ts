import { describe, expect, it } from "vitest";
import type { Control } from "../../../functions/control.ts";
import { cloudPricing, ownMachine } from "../../../functions/cost/pricing.ts";
import { engineHardware } from "../../../functions/engines/engine-hardware.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/** What was asked of the home is noted. */
function home(pricing = cloudPricing()) {
  const asked: unknown[] = [];
  const checkPlace = (...wanted: unknown[]) => void asked.push(wanted);
  return { control: { config: { pricing, checkPlace } } as unknown as Control, asked };
}
const train = { kind: "train", engine: "slime", model: "Qwen/Qwen3.5-4B" } as const;
const L40S = { gpu: "L40S", count: 4, spot: true } as const;

describe("what a GPU engine runs on, in the cloud", () => {
  it.each([
    ["what is known of the model", {}, { gpu: "H100", count: 8, spot: false }],
    ["what is asked for", { hardware: L40S }, L40S],
    [
      "the model's GPUs, asked for as spot",
      { hardware: { count: 1, spot: true } },
      { gpu: "H100", count: 8, spot: true },
    ],
    [
      "so many of the model's GPU",
      { hardware: { count: 4, spot: true } },
      { gpu: "H100", count: 4, spot: true },
    ],
    [
      "as many nodes as the engine's own settings name",
      { nodes: 2 },
      { gpu: "H100", count: 8, spot: false, nodes: 2 },
    ],
    [
      "as many nodes as the hardware names, where the engine trains on some of them",
      { hardware: { ...L40S, nodes: 3 }, nodes: 2 },
      { ...L40S, nodes: 3 },
    ],
    [
      "one GPU to serve the same",
      { kind: "serve", engine: "vllm" } as const,
      { gpu: "H100", count: 1, spot: false },
    ],
  ])("is %s", (_what, wanted, expected) => {
    const { control, asked } = home();
    expect(engineHardware(control, { ...train, ...wanted })).toEqual(expected);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toEqual([
      "kind" in wanted ? "serve" : "train",
      { engine: "kind" in wanted ? "vllm" : "slime", hardware: expected },
    ]);
  });

  it("is refused where nobody says which GPU, and asked of the home for each GPU that may be taken", () => {
    const { control, asked } = home();
    expect(() => engineHardware(control, { ...train, model: "made/up" })).toThrow(/needs a GPU.*made\/up/);
    const hardware = { gpu: "H100" as const, fallbacks: ["H200" as const], count: 8, spot: false };
    engineHardware(control, { ...train, hardware });
    expect(asked.map((each) => (each as [string, { hardware: { gpu: string } }])[1].hardware.gpu)).toEqual([
      "H100",
      "H200",
    ]);
  });
});

describe("on one machine", () => {
  it("it is what is there, and one", () => {
    const { control } = home(ownMachine());
    expect(engineHardware(control, train)).toBeUndefined();
    expect(
      engineHardware(control, { ...train, engine: "onnx", hardware: { ...L40S, nodes: 2 } }),
    ).toMatchObject({
      nodes: 2,
    });
    for (const [wanted, where] of [
      [{ nodes: 2 }, "slime.actorNumNodes"],
      [{ hardware: { ...L40S, nodes: 2 } }, "hardware.nodes"],
    ] as const)
      try {
        engineHardware(control, { ...train, ...wanted });
        expect.unreachable();
      } catch (error) {
        expect(SpotterError.from(error)).toMatchObject({ code: "invalid_input", where });
      }
  });
});

it("costs as many instances as it has nodes", () => {
  const pricing = cloudPricing();
  const hardware = { gpu: "H100", count: 8, spot: false } as const;
  const one = pricing.priceOf(hardware);
  expect(pricing.priceOf({ ...hardware, nodes: 3 })).toEqual({
    ...one,
    hourlyUsd: 3 * one.hourlyUsd,
    gpus: 24,
  });
});
