import type { Estimate, Price } from "../../sdk/schema/cost.ts";
import { hardwareChoices } from "../../sdk/schema/hardware.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { checkRunEngine } from "../engines/engines.ts";
import { getRunSpec, RUNS, type RunDocument } from "../runs/records.ts";
import { estimateEngine, type EngineEstimate } from "./estimate-engine.ts";
import { estimateCost, tokensPerStep, type EstimateFacts } from "./estimate.ts";
import { ownTeacher } from "../teachers/serve.ts";
import { hardwareNotes, pricingOf } from "./pricing.ts";
import { secondsOf } from "./spend.ts";

/** Runs looked at for one that tells how long another takes. */
const MAX_LOOKED_AT = 50;

/** What a run would take and cost here. */
export async function estimateRun(control: Control, spec: RunSpec): Promise<Estimate> {
  return (await estimateFor(control, checkRunEngine(control, spec))).estimate;
}

/** The same, with what it rests on. */
export async function estimateFor(
  control: Control,
  spec: RunSpec,
): Promise<{ estimate: Estimate; engine: EngineEstimate | undefined }> {
  const pricing = pricingOf(control);
  const price = pricing.priceOf(spec.hardware);
  // Refused now, and not when there is no room on the first.
  for (const choice of spec.hardware ? hardwareChoices(spec.hardware) : []) pricing.priceOf(choice);
  const measured = await measure(control, spec, price);
  const teacher = await ownTeacher(control, spec.teacher);
  const engine = spec.engine === "onnx" ? await estimateEngine(control, spec, teacher) : undefined;
  const taught = teacher && pricing.priceOf(spec.teacher?.hardware);
  const notes = [...hardwareNotes(pricing, spec), ...teacherNotes(taught)];
  return { estimate: estimateCost(spec, { price, measured, engine, notes }), engine };
}

/** The figures are of the training alone. */
function teacherNotes(price: Price | undefined): string[] {
  if (price === undefined || price.hourlyUsd === 0) return [];
  return [
    `Its teacher costs $${price.hourlyUsd.toFixed(2)} an hour more while the run works; limits.maxCostUsd pays for both.`,
  ];
}

/** The newest run that did the same work on the same instance, with all that its steps needed. */
async function measure(control: Control, spec: RunSpec, price: Price): Promise<EstimateFacts["measured"]> {
  const page = await control.store.query<RunDocument>(RUNS, { reverse: true, limit: MAX_LOOKED_AT });
  const now = control.clock.now();
  for (const { value: document } of page.items) {
    const { run, charges = [] } = document;
    const isAlike = run.model === spec.model.name && run.kind === spec.kind && run.step > 0;
    if (!isAlike || document.deletedAtMs !== undefined) continue;
    const own = charges.filter(({ conversion }) => conversion === undefined);
    const seconds = secondsOf(own, now);
    const isElsewhere = own.some(({ instance, gpus }) => instance !== price.instance || gpus !== price.gpus);
    if (seconds <= 0 || isElsewhere) continue;
    const earlier = await getRunSpec(control, run.id);
    if (earlier.adapter.kind !== spec.adapter.kind || earlier.engine !== spec.engine) continue;
    return { runId: run.id, tokensPerS: (run.step * tokensPerStep(earlier)) / seconds };
  }
  return undefined;
}
