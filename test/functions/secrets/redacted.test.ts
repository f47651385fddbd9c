import { expect, it } from "vitest";
import { createRedactor } from "../../../functions/secrets/redactor.ts";
import { redacted } from "../../../functions/secrets/redacted.ts";

const secrets = createRedactor(["hunter-2", "length"]);

it("replaces values in texts and names, at any depth", () => {
  const value = { reason: "is hunter-2", list: [{ "hunter-2": 1 }, "hunter-2", 2, null, true] };
  expect(redacted(secrets, value)).toEqual({
    reason: "is [redacted]",
    list: [{ "[redacted]": 1 }, "[redacted]", 2, null, true],
  });
});

it("leaves our own words alone, even where a secret is one", () => {
  const value = { finishReason: "length", text: "the length" };
  expect(redacted(secrets, value)).toEqual({ finishReason: "length", text: "the [redacted]" });
});

it("gives back the same object where there is nothing to hide", () => {
  const value = { text: "nothing" };
  expect(redacted(secrets, value)).toBe(value);
  expect(redacted(secrets, undefined)).toBeUndefined();
});
