import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import type { JobCallResult, JobEnvironmentCall, JobToolCall, TrainJob } from "../../../sdk/schema/job.ts";
import { rolloutSpec } from "../../../sdk/schema/run-spec.ts";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import type { TextModel } from "../../../engine/onnx/text/text-model.ts";
import { sampleAll } from "../../../engine/training/samples.ts";
import { unlessAborted } from "../../../engine/training/stop.ts";
import { createPromptCodec } from "../../../engine/training/text.ts";
import { createWorld } from "../../../engine/training/world.ts";
import { characterModel, EOS } from "./character-model.ts";

/** Conversations as `role:content$`, tools named before them; one token a character, `$` ends a turn. */
export const model = {
  ...characterModel,
  contextLength: 2_000,
  responseFamily: "hermes" as const,
  chatTemplate: new ChatTemplate(
    "{%- for t in tools or [] -%}[{{ t.function.name }}]{%- endfor -%}" +
      "{%- for m in messages -%}{{ m.role }}:{{ '<think>' + m.reasoning_content + '</think>' if m.reasoning_content }}{{ m.content }}{% for c in m.tool_calls or [] %}({{ c.function.name }}){% endfor %}${%- endfor -%}" +
      "{%- if add_generation_prompt -%}assistant:{%- endif -%}",
  ),
} as unknown as TextModel;

export const add = {
  type: "function" as const,
  function: { name: "add", description: "Add.", parameters: { type: "object" } },
};
export const call = (name: string, input: unknown) =>
  `<tool_call>${JSON.stringify({ name, arguments: input })}</tool_call>`;
export const row = (text: string, more: Partial<DatasetRow> = {}): DatasetRow => ({
  prompt: [{ role: "user", content: text }],
  row: { text },
  ...more,
});

export interface Scene {
  /** What the model writes after a text; without `$` it ran into the length limit. */
  write: (text: string, seed: number) => string | Promise<string>;
  tools?: (calls: JobToolCall[]) => JobCallResult[] | Promise<JobCallResult[]>;
  environments?: (calls: JobEnvironmentCall[]) => JobCallResult[];
  job?: Pick<TrainJob, "tools" | "environments">;
  rollout?: object;
  /** Aborted when the time is over. */
  deadline?: AbortSignal;
}

/** Plays rows as a training does, with a model that is a function of what was said. */
export async function play(scene: Scene, rows: DatasetRow[]) {
  const asked: { tools: JobToolCall[][]; environments: JobEnvironmentCall[][]; seeds: number[] } = {
    tools: [],
    environments: [],
    seeds: [],
  };
  const job = scene.job ?? { tools: [add] };
  const settings = rolloutSpec.parse({ maxTokens: 500, maxTurns: 4, ...scene.rollout });
  const codec = createPromptCodec(model, {}, job.tools);
  const world = createWorld({
    job,
    rollout: settings,
    codec,
    client: {
      callTools: async (calls) => {
        if (calls.length > 0) asked.tools.push(calls);
        return scene.tools?.(calls) ?? calls.map(() => ({ value: null }));
      },
      callEnvironments: async (calls) => {
        if (calls.length > 0) asked.environments.push(structuredClone(calls));
        return scene.environments?.(calls) ?? [];
      },
    },
  });
  const engine = {
    generate: async (
      { promptIds, seed, maxNewTokens }: { promptIds: number[]; seed: number; maxNewTokens: number },
      options?: { signal?: AbortSignal | undefined },
    ) => {
      asked.seeds.push(seed);
      const written = Promise.resolve(scene.write(textOf(promptIds), seed));
      const text = await (options?.signal ? unlessAborted(written, options.signal) : written);
      const ids = model.tokenizer.encode(text).slice(0, maxNewTokens);
      const ended = ids.at(-1) === EOS;
      return {
        ids,
        logprobs: ids.map((id) => -id / 100),
        finishReason: ended ? ("stop" as const) : ("length" as const),
      };
    },
  };
  const requests = rows.map((each, index) => ({ index, group: index, row: each, seed: 7 + index }));
  const signal = new AbortController().signal;
  const played = {
    engine,
    codec,
    settings,
    world,
    signal,
    ...(scene.deadline && { deadline: scene.deadline }),
  };
  return { asked, samples: await sampleAll(played, requests) };
}

export const textOf = (ids: number[]) =>
  ids.map((id) => (id === EOS ? "$" : String.fromCharCode(id))).join("");
