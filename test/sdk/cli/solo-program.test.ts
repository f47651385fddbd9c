import { expect, it } from "vitest";
import { createContext } from "../../../sdk/cli/context.ts";
import { createProgram } from "../../../sdk/cli/program.ts";
import { soloProgram } from "../../../sdk/cli/solo-program.ts";
import { runCli } from "./run-cli.ts";

const context = createContext({
  out: process.stdout,
  err: process.stderr,
  env: {},
  signal: new AbortController().signal,
  readInput: async () => "",
});

it("says of a command that is loaded alone what the whole program says of it", async () => {
  const solo = await soloProgram(context, "validate", false);
  const whole = createProgram(context, false).commands.find((each) => each.name() === "validate");
  const [alone] = solo?.commands ?? [];
  expect(alone?.options.map(({ flags }) => flags)).toEqual(whole?.options.map(({ flags }) => flags));
  expect(alone?.helpInformation()).toBe(whole?.helpInformation());
  expect((await runCli("validate --help")).out).toBe((await runCli("help validate")).out);
  expect((await runCli("validate --jsn")).err).toContain("See `spotter validate --help`.");
  expect((await runCli("--help")).out).toContain("A project folder:");
  expect(await soloProgram(context, "run", false)).toBeUndefined();
});
