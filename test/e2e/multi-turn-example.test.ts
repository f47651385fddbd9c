import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Endpoint, Run } from "../../sdk/index.ts";
import { ownHome } from "./home.ts";

const preload = new URL("../fixtures/sdk/from-source.ts", import.meta.url).href;
const script = fileURLToPath(new URL("../../examples/multi-turn/run.ts", import.meta.url));

describe("examples/multi-turn", () => {
  ownHome();

  it("has conversations, trains on them and has them again", async () => {
    const args = ["--no-warnings", "--import", preload, script, "--quick"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: process.env });
    expect(stdout).toMatch(/MODEL +REMEMBERS +FORM +CONVERSATIONS\nbase .* 4\ntrained .* 4\n$/);
    const [run] = await Run.list();
    expect(run).toMatchObject({ state: "succeeded", step: 1 });
    // What was learnt from has three turns and the answer, and no row is one of those that are judged.
    const [rollout] = await (await Run.get(run?.id ?? "")).rollouts(1);
    expect(rollout?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(rollout?.messages[0]?.content).toBe(`Say ${String(rollout?.row.topic)}.`);
    expect((await Endpoint.list()).map(({ state }) => state)).toEqual(["stopped", "stopped"]);
  });
});
