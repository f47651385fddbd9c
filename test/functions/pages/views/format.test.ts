import { describe, expect, it } from "vitest";
import {
  agoText,
  bytesText,
  countText,
  durationText,
  numberText,
  timeText,
} from "../../../../functions/pages/views/format.ts";

describe("texts of numbers and times", () => {
  it.each([
    [numberText(12), "12"],
    [numberText(-3.14159), "-3.142"],
    [numberText(0.0002), "2e-4"],
    [numberText(12_345_678), "1.23e+7"],
    [numberText(5150.4), "5150"],
    [durationText(-5), "0 s"],
    [durationText(59_600), "1 min"],
    [durationText(185_000), "3 min 5 s"],
    [durationText(2 * 3_600_000 + 600_000), "2 h 10 min"],
    [durationText(76 * 3_600_000), "3 d 4 h"],
    [agoText(0, 4_000), "just now"],
    [agoText(0, 42_000), "42 s ago"],
    [agoText(0, 5 * 60_000), "5 min ago"],
    [agoText(0, 30 * 3_600_000), "1 d ago"],
    [bytesText(812), "812 B"],
    [bytesText(1_906_904), "1.9 MB"],
    [bytesText(250_000), "250 kB"],
    [countText(1, "token"), "1 token"],
    [countText(0, "token"), "0 tokens"],
    [timeText(0), "1970-01-01 00:00:00 UTC"],
  ])("%s", (text, expected) => {
    expect(text).toBe(expected);
  });
});
