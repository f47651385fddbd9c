import { describe, expect, it } from "vitest";
import { runCli } from "../run-cli.ts";

describe("findingLines", () => {
  it("shows commands in hints as they can be pasted, and --json as they are", async () => {
    const env = { npm_command: "exec", SPOTTER_HOME: "/gym" };
    const line = ["validate", "-d", import.meta.dirname];
    expect((await runCli(line, { env })).out).toMatch(
      /^config\.yml error there is none in this folder \[config_missing\]\n {4}Create it.*`SPOTTER_HOME=\/gym npx spotter init`\.\n/,
    );
    expect((await runCli([...line, "--json"], { env })).out).toContain("`spotter init`");
  });
});
