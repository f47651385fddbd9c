import { describe, expect, it } from "vitest";
import { environment } from "../../sdk/environment.ts";
import { reward, type RewardArgs } from "../../sdk/reward.ts";
import { tool } from "../../sdk/tool.ts";
import { definitionOf } from "../../sdk/user-code/definition.ts";

const args: RewardArgs = {
  row: {},
  metadata: {},
  variables: {},
  secrets: {},
  response: { content: "four", reasoning: "", toolCalls: [] },
  completion: { tokens: 1, finishReason: "stop" },
};
const parameters = { type: "object" };

describe("reward", () => {
  it("can be called like the function it wraps", async () => {
    expect(await reward(({ response }) => response.content.length)(args, [])).toBe(4);
    expect(await reward({ weight: 2 }, (_, messages) => messages.length)(args, [])).toBe(0);
  });

  it("carries its options, with defaults", () => {
    expect(definitionOf(reward(() => 1))).toEqual({ kind: "reward", weight: 1, precondition: false });
    const options = { weight: -0.5, precondition: true, timeoutMs: 100, description: "d" };
    expect(definitionOf(reward(options, () => 1))).toEqual({ kind: "reward", ...options });
  });

  it.each([
    [{ wieght: 1 }, 'unknown option "wieght" (known: weight, precondition, timeoutMs, description)'],
    [{ weight: NaN, timeoutMs: 0 }, "weight must be a finite number; timeoutMs must be a number above 0"],
    [{ precondition: "yes" }, "precondition must be true or false"],
    [null, "options must be an object"],
  ])("refuses %j", (options, message) => {
    expect(() => reward(options as never, () => 1)).toThrow(message);
  });

  it("refuses options behind the function", () => {
    expect(() => reward(...([() => 1, { weight: NaN }] as unknown as [() => number]))).toThrow(
      "options come first",
    );
    expect(() => tool(...([() => 1, { description: "d" }] as unknown as Parameters<typeof tool>))).toThrow(
      "they come first: tool({ ... }, function)",
    );
  });

  it("does not take what every object has for an option", () => {
    expect(() => reward({ constructor: 1 } as never, () => 1)).toThrow('unknown option "constructor"');
  });

  it("refuses to go without a function", () => {
    expect(() => reward({ weight: 1 } as never)).toThrow("the last argument must be a function");
  });
});

describe("tool", () => {
  it("can be called and carries its options", () => {
    const add = tool<{ a: number }>({ description: "Adds.", parameters, timeoutMs: 5 }, ({ a }) => a + 1);
    expect(add({ a: 1 }, { secrets: {} })).toBe(2);
    expect(add.options.parameters).toBe(parameters);
    expect(definitionOf(add)).toEqual({ kind: "tool", description: "Adds.", parameters, timeoutMs: 5 });
  });

  it.each([
    [{ parameters }, "description is missing"],
    [{ description: "d" }, "parameters is missing"],
    [{ description: "d", parameters: {} }, 'must be a JSON Schema with type "object"'],
    [{ description: "d", parameters, retries: 1 }, 'unknown option "retries"'],
  ])("refuses %j", (options, message) => {
    expect(() => tool(options as never, () => 1)).toThrow(message);
  });
});

describe("environment", () => {
  const spec = {
    load: () => [{ secret: 3 }],
    setup: () => ({ messages: [], state: 0 }),
    rewards: { hit: reward(() => 1) },
  };

  it("keeps its parts and is found as an environment", () => {
    const guess = environment({ ...spec, description: "Guess." });
    expect(guess.load({})).toEqual([{ secret: 3 }]);
    expect(definitionOf(guess)).toEqual({ kind: "environment", description: "Guess." });
  });

  it.each([
    [{ ...spec, load: undefined, setup: undefined }, "load, setup missing"],
    [{ ...spec, rewards: {} }, "rewards is empty"],
    [{ ...spec, step: 1 }, "step must be a function"],
    [{ ...spec, steps: 1 }, 'unknown option "steps"'],
  ])("refuses what is wrong", (wrong, message) => {
    expect(() => environment(wrong as never)).toThrow(message);
  });
});
