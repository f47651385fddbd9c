import { describe, expect, it } from "vitest";
import { broadcast, namesOf, product, sameShape } from "../../../../engine/onnx/graph/dim.ts";

describe("symbolic dimensions", () => {
  it("multiply into one canonical form", () => {
    expect(product(["S", 2, "B", 3])).toBe("6*B*S");
    expect(product(["6*B", "S"])).toBe(product([2, "S", "3*B"]));
    expect(product([2, 3])).toBe(6);
    expect(product([])).toBe(1);
    expect(product(["B", 1])).toBe("B");
    expect(namesOf("6*B*S")).toEqual(["B", "S"]);
  });

  it("broadcast like NumPy", () => {
    expect(broadcast(["B", 1, 4], ["S", 1])).toEqual(["B", "S", 4]);
    expect(broadcast([], ["N", 2])).toEqual(["N", 2]);
    expect(broadcast(["B"], ["S"])).toBeUndefined();
  });

  it("are equal by name", () => {
    expect(sameShape(["B", 2], ["B", 2])).toBe(true);
    expect(sameShape(["B", 2], ["B"])).toBe(false);
  });
});
