import type { GenerateRequest } from "../../engine/onnx/engine-api.ts";
import { InferSession } from "../../engine/onnx/models/infer-session.ts";
import type { Policy } from "../../engine/onnx/models/policy.ts";
import { Scheduler } from "../../engine/onnx/sample/scheduler.ts";

/** Token ids of the answers, in the order of the requests. */
export type Sample = (requests: readonly GenerateRequest[]) => Promise<number[][]>;

/** Samples on this thread for as long as `use` takes. */
export async function withSampler<T>(
  policy: Policy,
  threads: number,
  use: (sample: Sample) => Promise<T>,
): Promise<T> {
  const session = await InferSession.create(policy, { threads, maxPositions: 512 });
  try {
    return await use((requests) => sampleAll(new Scheduler(session, policy.config, { slots: 64 }), requests));
  } finally {
    await session.close();
  }
}

async function sampleAll(scheduler: Scheduler, requests: readonly GenerateRequest[]): Promise<number[][]> {
  const answers: number[][] = requests.map(() => []);
  let failure: Error | undefined;
  for (const [index, request] of requests.entries()) {
    scheduler.add(request, {
      onToken: (id) => answers[index]?.push(id),
      onEnd: () => {},
      onError: (error) => (failure = error),
    });
  }
  while (scheduler.busy) await scheduler.step();
  if (failure) throw failure;
  return answers;
}
