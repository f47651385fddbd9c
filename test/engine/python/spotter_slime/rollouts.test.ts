import { describe, expect, it } from "vitest";
import { rollout } from "../../../../sdk/schema/rollout.ts";
import { answer, noVerdict, refusal, score } from "../../fake-control-plane.ts";
import { HEAD, host } from "../slime-host.ts";
import { hasPython } from "../spotter_agent/has-python.ts";
import { runPython } from "../spotter_agent/run-python.ts";

describe.runIf(hasPython)("rollouts of slime", () => {
  const log = `
one = sample(); one.tokens = [5, 6, 1, 2, 3]; one.response = "four"; one.response_length = 3; one.loss_mask = [1, 0, 1]
one.rollout_log_probs = [-0.5, 0.0, -0.25]; one.status = Sample.Status.TRUNCATED
other = sample(); other.tokens = [5, 9]; other.response = "x"; other.response_length = 1; other.status = Sample.Status.COMPLETED
args.n_samples_per_prompt = 1
async def main():
    for each in (one, other): each.reward = await spotter_slime.reward(args, each)
    show(spotter_slime.log_rollout(11, args, [[one], other], None, 1.0))
asyncio.run(main())
`;

  it("are recorded token for token, by the steps of the run itself", async () => {
    const { plane, env } = await host({ startedSteps: 10 });
    plane.judge = (rows) => rows.map(({ response }) => (response.content === "x" ? noVerdict() : score(2)));
    expect(await runPython(`${HEAD}${log}`, env)).toEqual(["false"]);
    const stored = plane.rollouts.get(2) ?? [];
    for (const each of stored) expect(rollout.safeParse(each)).toMatchObject({ success: true });
    expect(stored).toMatchObject([
      {
        ...{ step: 2, index: 0, group: 0, turns: 1, truncated: true, finishReason: "length", text: "four" },
        ...{ tokenIds: [5, 6, 1, 2, 3], mask: [0, 0, 1, 0, 1], logprobs: [0, 0, -0.5, 0, -0.25] },
        verdict: { total: 2 },
      },
      { index: 1, group: 1, mask: [0, 1], logprobs: [0, 0], verdict: { errors: { quality: {} } } },
    ]);
  });

  it("are told of in numbers, as slime tells its own", async () => {
    const { plane, env } = await host();
    plane.judge = (rows) => rows.map(({ response }) => (response.content === "x" ? noVerdict() : score(2)));
    const logger = `
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="[%(asctime)s] %(filename)s:%(lineno)d - %(message)s")
`;
    const [line = ""] = await runPython(`${HEAD}${logger}${log}`, env);
    const read = `from spotter_agent.engines.slime import read_line; import sys
print(read_line(${JSON.stringify(line)}).values)`;
    expect(await runPython(read)).toEqual(["{'missing_verdicts': 1.0, 'reward/quality': 2.0}"]);
  });

  it("end no training that cannot be stored, and are cut where they are too many", async () => {
    const { plane, env } = await host();
    plane.intercept = (request, response) => {
      if (request.url !== "/jobs/job-1/rollouts") return false;
      answer(response, 413, refusal("payload_too_large"));
      return true;
    };
    const refused = await runPython(`${HEAD}${log}`, env);
    expect(refused).toEqual([expect.stringContaining("those of step 12 could not be stored"), "false"]);
    plane.intercept = () => false;
    const few = "import spotter_slime.rollouts; spotter_slime.rollouts.MAX_TOKENS = 6";
    const cut = await runPython(`${HEAD}\n${few}\n${log}`, env);
    expect(cut[0]).toContain("1 of 2 are stored");
    expect(plane.rollouts.get(12)).toHaveLength(1);
  });
});
