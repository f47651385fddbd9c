import type { DatasetRow } from "./schema/dataset.ts";
import { SpotterError } from "./schema/errors.ts";
import { launchEval, type LaunchEval } from "./schema/launch-eval.ts";
import { parseWith } from "./schema/parse.ts";
import type { Client } from "./client.ts";
import { endpointNameOf } from "./endpoint.ts";
import { inTurns, loadEnvironments } from "./environment-tasks.ts";
import type { EvalParams } from "./eval.ts";
import { packPython } from "./python-bundle.ts";
import { pythonSpec, splitPython } from "./python-params.ts";
import { rewardsFile, rewardsSetup } from "./rewards-params.ts";
import { checkedRows, packRows, packUserCode, type Packed, type PackedDataset } from "./upload.ts";

/** An eval as it will be sent, and what it refers to. */
export interface PreparedEval {
  spec: LaunchEval;
  dataset: PackedDataset;
  code: Packed<{ sha256: string }>[];
}

/** Loads, formats and bundles everything that an eval names. Whoever prepares closes the dataset. */
export async function prepareEval(
  params: EvalParams,
  client: () => Client,
  signal: AbortSignal | undefined,
): Promise<PreparedEval> {
  const { rewards, tools, python } = splitPython(params);
  const { endpoint, dataset, environments = [], secrets = [], passAt = [], samplesPerRow, ...rest } = params;
  const { rewards: _rewards, tools: _tools, allowPython: _allowed, ...others } = rest;
  const { maxTurns, terminationPolicy, maxToolTokens, contextTokens, ...more } = others;
  const { includeThinking, rolloutTimeoutMs, ...plain } = more;
  const bundled = (file: URL | string | undefined) => (file === undefined ? undefined : packUserCode(file));
  const code = await bundled(rewards && rewardsFile(rewards));
  const toolCode = await bundled(tools && rewardsFile(tools));
  const pythonCode = python && packPython(python);
  const played =
    environments.length === 0
      ? undefined
      : await loadEnvironments(client(), environments, [], { secrets, signal });
  const passes = passAt.map((each) => (typeof each === "number" ? { k: each } : each));
  const tasks = (played?.train ?? []).filter((each) => each.length > 0);
  const rows = [...(dataset ? [checkedRows(dataset, needsTemplate)] : []), ...tasks];
  const packed = await packRows(inTurns(rows), () => dataset ?? {});
  try {
    const spec = parseWith(
      launchEval,
      {
        ...plain,
        endpoint: endpointNameOf(endpoint),
        dataset: packed.ref,
        passAt: passes,
        // As many answers as pass@k needs.
        samplesPerRow: samplesPerRow ?? Math.max(1, ...passes.map(({ k }) => k)),
        rollout: {
          maxTurns,
          terminationPolicy,
          maxToolTokens,
          contextTokens,
          includeThinking,
          rolloutTimeoutMs,
        },
        ...(rewards && code && { rewards: rewardsSetup(rewards, code, secrets) }),
        ...(tools && toolCode && { tools: rewardsSetup(tools, toolCode, secrets) }),
        ...(python && pythonCode && { python: pythonSpec(python, pythonCode.ref, secrets) }),
        ...(played && { environments: played.setups }),
      },
      "Eval",
    );
    return { spec, dataset: packed, code: [code, toolCode, pythonCode].filter((each) => each !== undefined) };
  } catch (error) {
    await packed.close();
    throw error;
  }
}

function needsTemplate(row: DatasetRow): void {
  if (row.chatTemplate !== false) return;
  throw new SpotterError(
    "dataset_invalid",
    "An eval asks through chat, and this dataset wants no chat template.",
    {
      where: "dataset",
      hint: "Leave applyChatTemplate out for the dataset of an Eval; evalDataset of a TrainConfig takes both.",
    },
  );
}
