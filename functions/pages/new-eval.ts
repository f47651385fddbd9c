import { SpotterError } from "../../sdk/schema/errors.ts";
import { evalRollout } from "../../sdk/schema/eval.ts";
import { launchEval, type LaunchEval } from "../../sdk/schema/launch-eval.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { findEval } from "../evals/records.ts";
import { findRun, getRunSpec } from "../runs/records.ts";
import type { NewEval } from "./views/new-eval-model.ts";

/**
 * An eval as `POST /evals` takes it.
 *
 * @throws SpotterError `not_found` for the source, `invalid_input` where it has nothing that judges.
 */
export async function launchOf(control: Control, asked: NewEval): Promise<LaunchEval> {
  const { from, endpoint, name, passAt, passThreshold } = asked;
  const source = await sourceOf(control, from);
  const { samplesPerRow = Math.max(1, ...passAt) } = asked;
  const own = { endpoint, passAt: passAt.map((k) => ({ k })), samplesPerRow, passThreshold };
  return parseWith(launchEval, { ...source, name, ...own }, "The eval");
}

type Source = Omit<LaunchEval, "endpoint" | "name" | "passAt" | "samplesPerRow" | "passThreshold">;

async function sourceOf(control: Control, id: string): Promise<Partial<Source>> {
  const found = await findEval(control, id);
  if (found !== undefined && found.run === undefined) return found.record.spec;
  const run = await findRun(control, id);
  if (run !== undefined && run.deletedAtMs === undefined) return sourceIn(id, await getRunSpec(control, id));
  throw new SpotterError("not_found", `There is no eval and no run ${id}.`, {
    where: "from",
    hint: "Load the page again: it lists those that there are.",
  });
}

/** Whether an eval can play what a run learnt from: rows of a dataset, and rewards that judge. */
export function hasRows({ rewards, python, environments }: RunSpec): boolean {
  return environments === undefined && (rewards ?? python?.rewards) !== undefined;
}

/** As the run measures itself: on the rows that it holds back, where it does. */
function sourceIn(id: string, spec: RunSpec): Partial<Source> {
  if (!hasRows(spec))
    throw new SpotterError("invalid_input", `Run ${id} has no rows with rewards.`, {
      where: "from",
      hint: "Take a run that learns from a dataset with rewards; evaluate others with a script.",
    });
  const { dataset, evalDataset = dataset, rewards, tools, python, rollout, seed } = spec;
  const { maxTokens, temperature, chatTemplateKwargs } = rollout;
  const { maxTurns, terminationPolicy, maxToolTokens, contextTokens, includeThinking, rolloutTimeoutMs } =
    rollout;
  const played = {
    maxTurns,
    terminationPolicy,
    maxToolTokens,
    contextTokens,
    includeThinking,
    rolloutTimeoutMs,
  };
  return {
    dataset: evalDataset,
    ...{ rewards, tools, python, seed },
    rollout: parseWith(evalRollout, played, "The rollout"),
    chatOptions: {
      ...{ max_tokens: maxTokens, temperature },
      ...(Object.keys(chatTemplateKwargs ?? {}).length > 0 && { chat_template_kwargs: chatTemplateKwargs }),
    },
  };
}
