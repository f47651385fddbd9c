import { expect, it } from "vitest";
import { systemIds } from "../../../functions/system/system-ids.ts";

it("makes ids that are unique and sort in the order they were made", () => {
  const ids = systemIds();
  const made = Array.from({ length: 5000 }, () => ids.next());
  expect(new Set(made)).toHaveLength(5000);
  expect([...made].sort()).toEqual(made);
  expect(made[0]).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
});

it("makes secrets of the wanted length, each another one", () => {
  const ids = systemIds();
  expect(ids.secret(16)).toMatch(/^[0-9a-f]{32}$/);
  expect(ids.secret(16)).not.toBe(ids.secret(16));
});
