import { join } from "node:path";
import { expect, it } from "vitest";
import type { TrainerSetup } from "../../../../engine/onnx/engine-api.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { Trainer } from "../../../../engine/onnx/train/trainer.ts";
import { batch, setup } from "../support/batches.ts";
import { expectError } from "../support/errors.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { tinyConfig } from "../support/tiny.ts";

const threads = { threads: 1 };
const decay = { weightDecay: 0.01, maxGradNorm: 1 };

it.each<TrainerSetup["optimizer"]>([
  { ...decay, type: "sgd", momentum: 0.9, nesterov: true },
  { ...decay, type: "muon", momentum: 0.95, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 },
  { ...decay, type: "sign_sgd" },
])("a training with $type learns, and resumes bit for bit from its state", async (optimizer) => {
  await using folder = await temporaryFolder();
  const [base, state] = [join(folder.path, "base"), join(folder.path, "state")];
  const start = (policy: Policy, change = {}): Promise<Trainer> =>
    Trainer.create(policy, { ...setup, optimizer, ...change }, threads);
  const twoSteps = async (trainer: Trainer): Promise<number> => {
    const step = batch({ learningRate: 3e-3 });
    await trainer.step(step);
    return (await trainer.step(step)).loss;
  };
  const whole = await start(randomPolicy(tinyConfig, 3));
  const before = await twoSteps(whole);
  await whole.policy.save(base);
  await whole.saveState(state);
  expect(await twoSteps(whole)).toBeLessThan(before);

  const resumed = await start(await Policy.load(base));
  await resumed.loadState(state);
  await twoSteps(resumed);
  for (const { name, data } of whole.trainable) expect(resumed.trainable.get(name).data).toEqual(data);

  const other = await start(await Policy.load(base), { optimizer: setup.optimizer });
  await expectError(() => other.loadState(state), "checkpoint_mismatch", optimizer.type);
  for (const trainer of [whole, resumed, other]) await trainer.close();
});
