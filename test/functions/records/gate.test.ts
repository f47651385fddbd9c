import { expect, it } from "vitest";
import { createGate } from "../../../functions/records/gate.ts";

it("lets many begin at a time, and a removal be alone", async () => {
  const gate = createGate();
  const order: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const begun = [
    gate.begin(async () => {
      order.push("a begins");
      await first.promise;
      order.push("a ends");
    }),
    gate.begin(async () => void order.push("b")),
  ];
  await begun[1];
  const removal = gate.remove(async () => {
    order.push("removal begins");
    await Promise.resolve();
    order.push("removal ends");
  });
  const late = gate.begin(async () => void order.push("c"));
  first.resolve(undefined);
  await Promise.all([...begun, removal, late]);
  expect(order).toEqual(["a begins", "b", "a ends", "removal begins", "removal ends", "c"]);
  expect(gate.begun).toBe(3);
});

it("goes on after a failure of either", async () => {
  const gate = createGate();
  const fail = async (): Promise<never> => {
    throw new Error("broken");
  };
  await expect(gate.begin(fail)).rejects.toThrow("broken");
  await expect(gate.remove(fail)).rejects.toThrow("broken");
  expect(await gate.begin(async () => 1)).toBe(1);
  expect(await gate.remove(async () => 2)).toBe(2);
});
