import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { STACK_NAME, stackName } from "../../../../sdk/cli/aws/stack-name.ts";

it.each(["dev", "D", "0", "my_stack-2", "x".repeat(40)])("may be %s", (name) => {
  expect(stackName(name)).toBe(name);
});

it.each(["", "-dev", "_dev", "a.b", "a/b", "org/spotter/dev", "dev\n", "é", "x".repeat(41), "x".repeat(1e6)])(
  "may not be %j",
  (name) => {
    expect(() => stackName(name)).toThrowError(
      expect.objectContaining({
        code: "invalid_input",
        kind: "user",
        where: "--stack",
        hint: expect.stringContaining("up to 40 letters") as string,
      }),
    );
  },
);

it("is what the program itself takes, to the letter", () => {
  const program = readFileSync(new URL("../../../../infra/config.ts", import.meta.url), "utf8");
  expect(program).toContain(`${STACK_NAME}.test(name)`);
});
