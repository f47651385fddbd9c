import { expect, it } from "vitest";
import { ENTRYPOINTS, type EntrypointName } from "../../sdk/config/prime-rl/entrypoints.ts";
import { checkIdempotence } from "../sdk/config/prime-rl/idempotence.ts";

it.each(Object.keys(ENTRYPOINTS) as EntrypointName[])(
  "resolving what resolving gave changes nothing: %s, 2,000 of 10,000 generated configurations",
  async (name) => {
    expect(await checkIdempotence(name, 2_000, 20_261_130)).toBeGreaterThanOrEqual(2_000);
  },
);
