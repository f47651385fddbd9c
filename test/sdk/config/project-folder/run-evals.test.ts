import { expect, it } from "vitest";
import { projectConfig } from "../../../../sdk/config/project-folder/config-schema.ts";
import { runEvalsOf } from "../../../../sdk/config/project-folder/run-evals.ts";
import { labelOf } from "../../../../sdk/schema/run-eval.ts";

const parse = (evals: unknown) => runEvalsOf({ evals: projectConfig.shape.evals.parse(evals) });

it("evals of a configuration become those of a run: what is absent or null is as in the eval (A26-A32 a)", () => {
  expect(
    parse([
      { eval_id: "cmla1l13e000004jwxu39jrpy", step: 100 },
      {
        eval_id: "b",
        step: 5,
        name: "MATH",
        pass1: false,
        pass4: null,
        pass8: true,
        pass8_temp: 0.7,
        pass4_temp: 1,
      },
    ]),
  ).toEqual([
    { evalId: "cmla1l13e000004jwxu39jrpy", everySteps: 100 },
    {
      ...{ evalId: "b", everySteps: 5, name: "MATH" },
      passAt: [
        { k: 1, enabled: false },
        { k: 4, temperature: 1 },
        { k: 8, enabled: true, temperature: 0.7 },
      ],
    },
  ]);
  expect(parse(null)).toEqual([]);
  expect(labelOf({ evalId: "cmla1l13e000004jwxu39jrpy" })).toBe("cmla1l13");
});
