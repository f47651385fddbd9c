import { describe, expect, it } from "vitest";
import { isTooDeep } from "../../../engine/serve/too-deep.ts";
import { chat, hello, hermes } from "./tool-harness.ts";

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const tool = (parameters: object): object => ({ type: "function", function: { name: "f", parameters } });

describe("isTooDeep", () => {
  it("counts levels, however many there are", () => {
    expect(isTooDeep(nested(400))).toBe(false);
    expect(isTooDeep(nested(100_000))).toBe(true);
    expect(isTooDeep([1, "x", null, { a: [] }])).toBe(false);
  });
});

describe("a request nested too deeply", () => {
  it.each<[string, object]>([
    ["chat_template_kwargs", { chat_template_kwargs: { a: nested(1500) } }],
    ["tools[1].function.parameters", { tools: [tool({}), tool({ x: nested(1500) })] }],
  ])("is refused with %s", async (param, fields) => {
    const response = await chat(hermes("x"), { ...hello, ...fields });
    expect(response.status).toBe(400);
    const message = `Invalid '${param}': nested too deeply.`;
    expect(await response.json()).toMatchObject({ error: { param, message } });
  });
});
