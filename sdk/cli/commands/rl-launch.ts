import type { EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import type { EmbeddedPlan } from "../../config/prime-rl/embedded/plan.ts";
import type { Resolution } from "../../config/prime-rl/resolve.ts";
import type { RlConfig, SftConfig } from "../../config/prime-rl/rules/configs.ts";
import type { InferenceConfig } from "../../config/prime-rl/rules/configs.ts";
import type { Finding } from "../../config/prime-rl/types.ts";
import type { Run } from "../../run.ts";
import { estimateText } from "../../schema/estimate-text.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { printServe } from "../follow-run.ts";
import { printable } from "../render/visible.ts";
import { Told } from "../told.ts";
import { printFindings, printVerdict } from "./rl-findings.ts";

type Resolved = Resolution & { config: Record<string, unknown> };

export interface LaunchFlags {
  isJson: boolean;
  /** The stored secret with the key of W&B, where one was granted. */
  wandbSecret?: string | undefined;
  /** Although it will most likely not fit, or takes more than a day. */
  force?: boolean;
}

/** Starts what a resolved configuration describes on the embedded engine, and follows it to its end. */
export async function launchEntrypoint(
  context: CliContext,
  name: EntrypointName,
  resolution: Resolved,
  { isJson, wandbSecret, force = false }: LaunchFlags,
): Promise<void> {
  if (name === "inference") return serve(context, resolution, isJson);
  if (name !== "rl" && name !== "sft") return refuse(context, resolution, [partAlone(name)], isJson);
  const plan = await planOf(name, resolution);
  const findings = [...resolution.findings, ...plan.findings];
  if (plan.params === null) return refuse(context, resolution, plan.findings, isJson);
  if (!isJson) printFindings(context, findings);
  if (plan.exportsTokens) {
    const { prepareExports } = await import("../../config/prime-rl/embedded/token-exports.ts");
    prepareExports(plan.outputDir);
  }
  const { TrainConfig } = await import("../../train-config.ts");
  const { wandbTrackers } = await import("../../config/prime-rl/embedded/wandb-tracker.ts");
  const trackers = wandbTrackers(resolution.config as unknown as RlConfig | SftConfig, wandbSecret);
  const params = { ...plan.params, ...(trackers.length > 0 && { trackers }) };
  const run = await new TrainConfig(params).launch({ signal: context.signal, force });
  if (!isJson) print(context, `${run.id} trains ${run.record.model}: ${run.url}`);
  if (!isJson && run.estimate) print(context, estimateText(run.estimate));
  try {
    await follow(context, run, plan, isJson);
  } catch (error) {
    if (context.signal.aborted) context.err.write(goesOn(context, run, plan));
    throw error;
  }
  const { config, provenance } = resolution;
  if (isJson) printJson(context, { config, provenance, findings, run: run.record });
}

async function planOf(name: "rl" | "sft", { config, provenance }: Resolved): Promise<EmbeddedPlan> {
  const cwd = process.cwd();
  if (name === "rl") {
    const { planRl } = await import("../../config/prime-rl/embedded/plan-rl.ts");
    return planRl(config as unknown as RlConfig, provenance, cwd);
  }
  const { planSft } = await import("../../config/prime-rl/embedded/plan-sft.ts");
  return planSft(config as unknown as SftConfig, provenance, cwd);
}

/** Whoever stops looking is told what goes on without them. */
function goesOn(context: CliContext, { id }: Run, { exportsTokens }: EmbeddedPlan): string {
  const lines = [
    `${id} goes on. Look again: ${context.command(`run watch ${id}`)}`,
    `End it: ${context.command(`run cancel ${id}`)}`,
    ...(exportsTokens ? ["Its token exports end here; its rollouts are kept."] : []),
  ];
  return `\n${lines.join("\n")}\n`;
}

/** Ends with the run: as failed where it failed. */
async function follow(context: CliContext, run: Run, plan: EmbeddedPlan, isJson: boolean): Promise<void> {
  const { signal, out, isTerminal } = context;
  const exporting = plan.exportsTokens ? startExports(run, plan, signal) : Promise.resolve();
  if (!isJson) {
    const { watchRun } = await import("../render/watch-run.ts");
    const { occupantOf } = await import("../render/waiting.ts");
    await watchRun(run, { out, isTerminal, signal, waitsOn: () => occupantOf(run.id, signal) });
  }
  const result = await run.result({ signal });
  if (!isJson) printServe(context, result);
  await exporting;
  if (!isJson && plan.exportsTokens)
    print(context, printable(`Token exports are in ${plan.outputDir}/token_exports.`));
  await run.refresh({ signal });
}

function startExports(run: Run, plan: EmbeddedPlan, signal: AbortSignal): Promise<void> {
  const exporting = import("../../config/prime-rl/embedded/token-exports.ts").then(({ exportTokens }) =>
    exportTokens(run, plan.outputDir, signal),
  );
  // Looked at once the run has ended; until then a failure must not end the process.
  exporting.catch(() => undefined);
  return exporting;
}

/** Serves the model of an `inference` configuration as an endpoint. */
async function serve(context: CliContext, resolution: Resolved, isJson: boolean): Promise<void> {
  const config = resolution.config as unknown as InferenceConfig;
  const { findings, provenance } = resolution;
  if (!isJson) printFindings(context, findings);
  const { Endpoint } = await import("../../endpoint.ts");
  const endpoint = await Endpoint.launch(config.model.name, { signal: context.signal });
  await endpoint.waitUntilReady({ signal: context.signal });
  if (isJson) return printJson(context, { config, provenance, findings, endpoint: endpoint.record });
  print(context, `${endpoint.name} serves ${config.model.name}: ${endpoint.url}`);
  print(context, `Settings of the server change nothing on the embedded engine.`);
}

function partAlone(name: "trainer" | "orchestrator"): Finding {
  return {
    code: "route_unsupported",
    severity: "error",
    path: "",
    message: `A ${name} alone belongs to prime-rl on a GPU host, which Spotter does not start yet.`,
    hint: "On one machine a single process does all of it: `spotter rl @ rl.toml`. Add --dry-run to resolve this file.",
    file: null,
    line: null,
    column: null,
  };
}

async function refuse(
  context: CliContext,
  { config, provenance, findings }: Resolved,
  more: readonly Finding[],
  isJson: boolean,
): Promise<void> {
  const all = [...findings, ...more];
  if (isJson) printJson(context, { config, provenance, findings: all });
  else {
    printFindings(context, all);
    printVerdict(context, all);
  }
  throw new Told(2);
}
