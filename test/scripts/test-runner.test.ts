import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const program = join(import.meta.dirname, "../../scripts/test.ts");

/** What the runner says before it hands over to vitest, which finds no such file and ends. */
function runner(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", program, "--long", "no-such-file", ...args],
    { encoding: "utf8", timeout: 20_000, env: { ...process.env, SPOTTER_CHAOS_SEED: "5" } },
  );
  return { status, first: stdout.split("\n")[0], stderr };
}

it("tells the seed of the long tests first: the one that is given, or that of the environment", () => {
  const said = (seed: number) =>
    `seed ${seed}; npm run test:long -- --seed ${seed} draws the same points again`;
  expect(runner("--seed", "7").first).toBe(said(7));
  expect(runner("--seed=8").first).toBe(said(8));
  expect(runner().first).toBe(said(5));
});

it.each([
  ["--seed", "x"],
  ["--seed", "2147483648"],
  ["--minutes", "0"],
])("takes no %s %s", (...args) => {
  expect(runner(...args)).toMatchObject({
    status: 2,
    first: "",
    stderr: expect.stringContaining("--seed takes") as string,
  });
});
