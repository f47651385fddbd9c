import { describe, expect, it } from "vitest";
import { runCli } from "./run-cli.ts";

const errorOf = async (line: string) => (await runCli(line)).err.split("\n")[0];

describe("usageError", () => {
  it("knows the nouns of a verb that stands alone", async () => {
    expect(await errorOf("launch spotter/nano")).toBe(
      "error Unknown command 'launch'. Did you mean endpoint launch or eval launch? [invalid_input]",
    );
    expect(await errorOf("watch")).toContain("Did you mean run watch?");
    expect(await errorOf("delete x")).toMatch(/Did you mean (\w+ delete, )+or \w+ delete\? /);
    expect(await errorOf("stauts")).toContain("Did you mean status?");
  });
});

describe("withoutVainHelp", () => {
  it("refuses the help of what is no command, with what was meant", async () => {
    for (const line of ["help endpiont", "endpiont --help", "endpiont list -h"])
      expect(await runCli(line), line).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringContaining("Unknown command 'endpiont'. Did you mean endpoint?") as string,
      });
    expect(await errorOf("help endpoint lanch")).toContain("Did you mean launch?");
    expect(await errorOf("help watch")).toContain("Did you mean run watch?");
  });

  it("leaves the help of commands alone, also behind arguments", async () => {
    const { out } = await runCli("endpoint launch --help");
    for (const line of [
      "help endpoint launch",
      "endpoint help launch",
      "endpoint launch spotter/nano -h",
      "endpoint launch help --help",
    ])
      expect(await runCli(line), line).toEqual({ code: 0, out, err: "" });
    expect((await runCli("run trainer.num_epochs=1 --help")).out).toBe((await runCli("run --help")).out);
    expect((await runCli("validate --help")).out).toContain("Usage: spotter validate");
  });
});
