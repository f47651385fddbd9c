import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { branchesOf } from "../../../sdk/schema/rollout.ts";
import { score } from "../fake-control-plane.ts";
import { EOS } from "./character-model.ts";
import { promptRow, startFakeEngine, type FakeEngine } from "./fake-engine.ts";
import { model, textOf } from "./scene.ts";
import { trainFixture } from "./train-fixture.ts";

it("of a run are learnt token for token as they are stored, all with the advantage of their rollout (A21)", async () => {
  const engines: FakeEngine[] = [];
  await using fixture = await trainFixture({
    writeModel: async (dir) => {
      await mkdir(dir);
      await writeFile(join(dir, "config.json"), "{}");
      await writeFile(join(dir, "weight.json"), "0");
    },
    loadTextModel: async () => model,
    startEngine: async (setup) => {
      const engine = await startFakeEngine(setup);
      engines.push(engine);
      // Thinks as long as its seed says, so that no two branches are alike.
      const generate: FakeEngine["generate"] = async ({ seed }) => {
        const ids = model.tokenizer.encode(`<think>${"m".repeat(1 + (seed % 9))}</think>so$`);
        return { ids, logprobs: ids.map((id) => -id / 100), finishReason: "stop" };
      };
      return Object.assign(engine, { generate });
    },
  });
  fixture.plane.judge = (rows) => rows.map((_, index) => score(index));
  const rollout = {
    ...{ promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 50 },
    ...{ maxTurns: 3, terminationPolicy: "max_turns" as const, includeThinking: false },
  };
  expect(
    await fixture.train({ rollout, trainer: { steps: 1 } }, { rows: [promptRow("a"), promptRow("b")] }),
  ).toBe(0);
  const rollouts = fixture.plane.rollouts.get(1) ?? [];
  expect(rollouts.map(({ branches }) => branches?.length)).toEqual([2, 2, 2, 2]);
  expect(textOf(rollouts[0]?.tokenIds ?? [])).toMatch(
    /^user:[ab]\$assistant:so\$assistant:so\$assistant:<think>m*<\/think>so\$$/,
  );
  expect(rollouts[0]?.tokenIds.at(-1)).toBe(EOS);
  const stored = rollouts.flatMap((each) => branchesOf(each).map((branch) => ({ ...branch, of: each })));
  const learnt = engines[0]?.batches[0]?.sequences ?? [];
  expect(learnt.map(({ ids, mask, oldLogprobs }) => [ids, mask, oldLogprobs])).toEqual(
    stored.map(({ tokenIds, mask, logprobs }) => [tokenIds, mask, logprobs]),
  );
  expect(learnt.map(({ advantages }) => advantages)).toEqual(
    stored.map(({ mask, of: { advantage = 0 } }) => mask.map((written) => written * advantage)),
  );
  expect(new Set(rollouts.map(({ advantage }) => Math.sign(advantage ?? 0)))).toEqual(new Set([-1, 1]));
});
