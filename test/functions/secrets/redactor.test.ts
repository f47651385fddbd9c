import fc from "fast-check";
import { expect, it } from "vitest";
import { createRedactor } from "../../../functions/secrets/redactor.ts";

it("hides a value wherever it stands", () => {
  const redactor = createRedactor(["hunter2!"]);
  expect(redactor.redact("a hunter2! b hunter2!")).toBe("a [redacted] b [redacted]");
  expect(redactor.redact("nothing here")).toBe("nothing here");
});

it("hides a value inside JSON and inside a URL", () => {
  const value = 'quote" slash\\ line\n';
  const { redact } = createRedactor([value]);
  expect(redact(JSON.stringify({ key: value }))).toBe('{"key":"[redacted]"}');
  expect(redact(`https://host/?key=${encodeURIComponent(value)}`)).toBe("https://host/?key=[redacted]");
});

it("hides a value of several lines also where they are apart, but no short line of it", () => {
  const { redact } = createRedactor(["-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nand\n"]);
  expect(redact("1 MIIEvQIBADANBgkq 2 and 3")).toBe("1 [redacted] 2 and 3");
});

it("hides a value inside JSON inside JSON", () => {
  const value = 'with "quotes"';
  const twice = JSON.stringify({ line: JSON.stringify({ value }) });
  expect(createRedactor([value]).redact(twice)).not.toContain("quotes");
});

it("hides the whole of a value that contains another one", () => {
  const redactor = createRedactor(["secret"]);
  redactor.add("my-secret-key");
  expect(redactor.redact("my-secret-key and secret")).toBe("[redacted] and [redacted]");
});

it("leaves words alone that are too short to be secrets", () => {
  expect(createRedactor(["on", "", "abcde"]).redact("on and abcde on")).toBe("on and abcde on");
  expect(createRedactor(["abcdef"]).redact("abcdef")).toBe("[redacted]");
});

it("never lets a value through, in any text", () => {
  const value = fc.string({ minLength: 6, maxLength: 14 }).filter((text) => !"[redacted]".includes(text));
  fc.assert(
    fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
      const shown = createRedactor([secret]).redact(`${before}\u0001${secret}\u0001${after}`);
      expect(shown).toContain("\u0001[redacted]\u0001");
    }),
  );
});
