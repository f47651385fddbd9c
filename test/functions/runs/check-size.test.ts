import { expect, it, onTestFinished } from "vitest";
import { checkSize } from "../../../functions/runs/check-size.ts";
import type { RunSpec } from "../../../sdk/schema/run-spec.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

interface Refusal {
  error: { code: string; message: string; where?: string };
}

it("refuses a run that is too large or too deep to be kept, and names the part", async () => {
  const plane = await testPlane({ onEnd: onTestFinished });
  const base = await preparedSpec(plane);
  const env = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`NAME_${index}`, "x".repeat(32_000)]),
  );
  const refused = async (changes: object) => {
    const response = await plane.call("POST", "/runs", { ...base, ...changes });
    return { status: response.status, ...((await response.json()) as Refusal).error };
  };
  expect(await refused({ env })).toMatchObject({
    status: 400,
    code: "invalid_input",
    where: "env",
    message: expect.stringMatching(/^The run has \d+ bytes; at most 340000 are kept\.$/) as string,
  });
  let deep: unknown = 1;
  for (let depth = 0; depth < 50_000; depth++) deep = [deep];
  const nested = { rollout: { chatTemplateKwargs: { deep } } } as unknown as RunSpec;
  expect(() => checkSize(nested)).toThrow("rollout is nested too deep.");
});
