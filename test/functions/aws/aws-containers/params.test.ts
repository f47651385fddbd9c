import { expect, it } from "vitest";
import { targetOf } from "../../../../functions/aws/aws-containers/params.ts";
import { containerPlaces } from "../../../../functions/aws/aws-deps/containers.ts";

const target = (name: string) => ({ taskDefinition: name, capacityProvider: name });
const { serve } = containerPlaces.parse({
  cluster: "c",
  subnets: ["s"],
  securityGroups: [],
  logGroup: "l",
  serve: {
    "L4:8": target("eight"),
    cpu: target("cpu"),
    "L4:1": target("one"),
    "L4:4": target("four"),
    T4: target("any"),
  },
  work: {},
});
const ask = (gpu: "L4" | "T4" | "H100", count: number) => targetOf(serve, { gpu, count, spot: false });

it.each([
  [1, "L4:1"],
  [2, "L4:4"],
  [4, "L4:4"],
  [5, "L4:8"],
])("%i L4 are on the smallest instances that have them: %s", (count, hardwareClass) => {
  expect(ask("L4", count).hardwareClass).toBe(hardwareClass);
});

it("a processor, and a GPU whose instances have any number, are what they are", () => {
  expect(targetOf(serve, undefined)).toEqual({ target: target("cpu"), hardwareClass: "cpu" });
  expect(ask("T4", 8).hardwareClass).toBe("T4");
});

it("says what there is where there is no such GPU, or not as many", () => {
  expect(() => ask("H100", 1)).toThrow("This stack has no H100 instances.");
  const single = containerPlaces.shape.serve.parse({ "L4:1": target("one") });
  expect(() => targetOf(single, { gpu: "L4", count: 2, spot: false })).toThrow(
    expect.objectContaining({
      code: "invalid_input",
      message: "This stack has no instances with 2 × L4.",
      where: "hardware.count",
      hint: "It has L4:1; others are added in the stack's configuration.",
    }),
  );
});

it.each(["L4:x", "L5:1", "L4:1.5"])("%s is no class", (name) => {
  expect(containerPlaces.shape.serve.safeParse({ [name]: target("x") }).success).toBe(false);
});
