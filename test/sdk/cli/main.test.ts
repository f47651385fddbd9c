import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createProgram } from "../../../sdk/cli/program.ts";
import { createContext } from "../../../sdk/cli/context.ts";
import type { Command } from "commander";
import { fakeServer, freePort, sendError } from "../fake-server.ts";
import { runCli } from "./run-cli.ts";

describe("spotter", () => {
  it("teaches: every verb has a description, examples that name it, and --json", () => {
    const verbs = leaves(createProgram(quiet(), false), "spotter");
    expect(verbs.length).toBeGreaterThan(20);
    for (const [path, command] of verbs) {
      expect(command.description(), path).not.toBe("");
      expect(
        command.options.map(({ long }) => long),
        path,
      ).toContain("--json");
      const examples = examplesOf(command);
      expect(examples.length, path).toBeGreaterThan(0);
      for (const example of examples) expect(example, path).toContain(path);
    }
  });

  it("shows with every noun how its verbs go together", () => {
    const nouns = createProgram(quiet(), false).commands.filter(({ commands }) => commands.length > 0);
    expect(nouns.length).toBeGreaterThan(6);
    for (const each of nouns) {
      const examples = examplesOf(each);
      expect(examples.length, each.name()).toBeGreaterThan(1);
      for (const example of examples) expect(example, each.name()).toContain("spotter ");
    }
  });

  it("says that the folder it runs in is gone", async () => {
    const gone = Object.assign(new Error("ENOENT: process.cwd failed"), {
      code: "ENOENT",
      syscall: "uv_cwd",
    });
    const cwd = vi.spyOn(process, "cwd").mockImplementation(() => {
      throw gone;
    });
    onTestFinished(() => cwd.mockRestore());
    for (const line of ["validate", "init", "test --model mock"]) {
      const { code, out, err } = await runCli(line);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toBe(
        "error The folder that this command runs in is not there any more. [invalid_input]\nhint  Change to one that is.\n",
      );
    }
  });

  it("explains itself and its nouns", async () => {
    const help = await runCli("--help");
    expect(help).toMatchObject({ code: 0, err: "" });
    expect(help.out).toContain("First steps:");
    expect(help.out).toMatch(/^This machine:\n {2}up .*\n {2}down /m);
    expect(await runCli([])).toEqual(help);
    expect((await runCli("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await runCli("version")).out).toBe((await runCli("--version")).out);
    expect((await runCli("help run watch")).out).toBe((await runCli("run watch --help")).out);
    expect((await runCli("run --help")).out).toContain("Trainings start from scripts");
    expect((await runCli("run")).code).toBe(2);
    expect((await runCli("help run")).out).toContain("spotter run");
  });

  it("suggests what was meant, and counts it as bad input (56)", async () => {
    expect(await runCli("endpiont list")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean endpoint?") as string,
    });
    expect((await runCli("run wach x")).err).toContain("Did you mean watch?");
    expect((await runCli("run list --limt 3")).err).toContain("Did you mean --limit?");
    expect((await runCli("run list --limit many")).err).toContain("It must be a whole number.");
    expect(await runCli("run cancel")).toEqual({
      code: 2,
      out: "",
      err:
        "error Missing required argument 'id'. [invalid_input]\n" +
        "hint  Usage: spotter run cancel [options] <id>. See `spotter run cancel --help`.\n",
    });
  });

  it("prints errors as text with the hint, or as JSON on standard output", async () => {
    const { url } = await fakeServer({
      "GET /runs/x": (_, response) => sendError(response, 404, "not_found", "There is no run x."),
    });
    expect(await runCli("run get x", { url })).toEqual({
      code: 2,
      out: "",
      err: "error There is no run x. [not_found]\nhint  Do better.\n",
    });
    const json = await runCli("run get x --json", { url });
    expect(json).toMatchObject({ code: 2, err: "" });
    const error = { code: "not_found", kind: "user", message: "There is no run x.", hint: "Do better." };
    expect(JSON.parse(json.out)).toEqual({ error });
    const usage = await runCli("run cancel --json");
    expect(usage).toMatchObject({ code: 2, err: "" });
    expect(JSON.parse(usage.out)).toMatchObject({
      error: { code: "invalid_input", hint: expect.stringContaining("spotter run cancel --help") as string },
    });
  });

  it("exits with 1 for failures and 130 when interrupted", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const interrupted = { url, signal: AbortSignal.abort(new Error("Interrupted.")) };
    expect((await runCli("run list", interrupted)).code).toBe(130);
    const { url: broken } = await fakeServer({
      "GET /runs": (_, response) => {
        response.setHeader("x-should-retry", "false");
        sendError(response, 500, "internal", "It broke.");
      },
    });
    expect((await runCli("run list", { url: broken })).code).toBe(1);
  });
});

function quiet() {
  return createContext({
    out: process.stdout,
    err: process.stderr,
    env: {},
    signal: new AbortController().signal,
    readInput: async () => "",
  });
}

/** The lines that help shows after a prompt. */
function examplesOf(command: Command): string[] {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return help.split("\n").flatMap((line) => /^ {2}\$ (.*)$/.exec(line)?.[1] ?? []);
}

function leaves(command: Command, path: string): [string, Command][] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
}
