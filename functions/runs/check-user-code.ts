import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { asksUngranted, JUDGE_GRANT_HINT } from "../../sdk/schema/judge-grants.ts";
import { pythonBundle } from "../../sdk/schema/user-code.ts";
import type { EnvironmentSetup, PythonSetup, RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { datasetHead } from "../datasets/datasets.ts";
import { callMembers, environmentError, openEnvironment } from "../user-code/environments.ts";
import { getUserCode } from "../user-code/records.ts";
import { preflightRewards } from "../user-code/preflight.ts";
import { userCodeBytes } from "../user-code/user-code.ts";
import { openTools } from "../user-code/tools.ts";
import { checkRewards } from "./check-rewards.ts";

/** Of each environment; their rows come in turns. */
const PREFLIGHT_ROWS = 8;

type Checked = Pick<RunSpec, "dataset" | "rewards" | "tools" | "python" | "environments">;

/**
 * Tries the rewards, tools and environments of a run or eval on the first rows of its dataset, before anything costs money.
 * Throws what is broken; resolves to what only looks odd.
 */
export async function checkUserCode(control: Control, spec: Checked): Promise<string[]> {
  if (spec.tools) await openTools(control, spec.tools);
  const ofPython = spec.python ? await checkPython(control, spec.python) : [];
  return [...ofPython, ...(await checkIsolated(control, spec))];
}

async function checkIsolated(control: Control, spec: Checked): Promise<string[]> {
  const { environments } = spec;
  if (environments === undefined)
    return spec.rewards ? checkRewards(control, spec.rewards, spec.dataset.sha256) : [];
  const rows = await datasetHead(control, spec.dataset.sha256, PREFLIGHT_ROWS * (environments.length + 1));
  const own = rows.filter(({ environment }) => environment === undefined).slice(0, PREFLIGHT_ROWS);
  const warnings = await Promise.all([
    ...environments.map((setup) =>
      checkEnvironment(
        control,
        setup,
        rows.filter(({ environment }) => environment === setup.name).slice(0, PREFLIGHT_ROWS),
      ),
    ),
    spec.rewards && own.length > 0
      ? preflightRewards(control, spec.rewards, own).then((report) => report.warnings)
      : [],
  ]);
  return warnings.flat();
}

/**
 * Python is not run before its own container starts: what can be told now is whether all of it is there.
 *
 * @throws SpotterError `python_missing`; `not_found` for the code or a secret; `user_code_invalid` for other code.
 */
async function checkPython(control: Control, { code, rewards, tools }: PythonSetup): Promise<string[]> {
  const file = rewards?.file ?? tools?.file ?? "The code";
  if (control.config.hasPython?.() !== true) {
    throw new SpotterError(
      "python_missing",
      `${file} needs Python beside the trainer, and there is no python3 here.`,
      {
        where: file,
        hint: "Install Python 3.9 or newer on the machine that trains, or write the code in TypeScript.",
      },
    );
  }
  const { language } = await getUserCode(control, code.sha256);
  if (language !== "python") {
    throw new SpotterError("user_code_invalid", `${file}: the code of ${code.sha256} is not Python.`, {
      where: file,
      hint: "Upload it with PUT /user-code/:sha256?language=python.",
    });
  }
  if (code.secrets.length > 0) await control.secrets.resolve(code.secrets);
  const bundle = pythonBundle.parse(
    JSON.parse(new TextDecoder().decode(await userCodeBytes(control, code.sha256))),
  );
  if (!asksUngranted(Object.values(bundle.files), code.secrets)) return [];
  return [`${file} asks a model with llm_judge, and no secret is granted to ask with. ${JUDGE_GRANT_HINT}`];
}

/** Begins episodes, and judges answers to them that break careless rewards. */
async function checkEnvironment(
  control: Control,
  setup: EnvironmentSetup,
  rows: readonly DatasetRow[],
): Promise<string[]> {
  const { handle, file } = await openEnvironment(control, setup);
  if (rows.length === 0) return [];
  const calls = rows.map(({ row }) => ({
    name: `${setup.export}/setup`,
    input: row,
    timeoutMs: setup.timeoutMs,
  }));
  const begun = await callMembers(control, handle, calls);
  const prompts = begun.map((result, index) => {
    if ("error" in result)
      throw environmentError(result.error, `setup of "${setup.export}", task ${index + 1}`, file);
    return (result.value as { messages: ChatMessage[] }).messages as DatasetRow["prompt"];
  });
  const { code, timeoutMs, export: environment } = setup;
  const { warnings } = await preflightRewards(
    control,
    { code, timeoutMs, environment, maxMissingShare: 0 },
    rows.map((row, index) => ({ ...row, prompt: prompts[index] ?? [] })),
  );
  return warnings;
}
