import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { type EvalRecord } from "../../sdk/schema/eval.ts";
import type { LaunchEval } from "../../sdk/schema/launch-eval.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { checkDataset } from "../datasets/datasets.ts";
import { acceptImplicit } from "../endpoints/implicit.ts";
import { resolveModel, type Resolved } from "../gateway/resolve.ts";
import { launchOnce } from "../records/launch-once.ts";
import { putFirst } from "../records/update.ts";
import { redacted } from "../secrets/redacted.ts";
import { checkUserCode } from "../runs/check-user-code.ts";
import {
  changeEval,
  evalIndexes,
  evalKey,
  evalStream,
  findEval,
  getOwnEval,
  newRecord,
  type EvalDocument,
} from "./records.ts";
import { isTerminalEval } from "./transitions.ts";

/**
 * Accepts an eval: its endpoint and dataset exist, and its code was tried on a few rows. The reconciler starts the work. With a key, the
 * same launch again finds the eval of the first.
 */
export function launchEval(control: Control, given: LaunchEval, key?: string): Promise<EvalRecord> {
  const launch = { kind: "eval", key, body: given } as const;
  const made = {
    nameOf: ({ id }: EvalRecord) => id,
    find: async (id: string) => (await getOwnEval(control, id)).record,
  };
  return control.gate.begin(() => launchOnce(control, launch, (id) => accept(control, id, given), made));
}

async function accept(control: Control, id: string, given: LaunchEval): Promise<EvalRecord> {
  const known = await findEval(control, id);
  if (known) return known.record;
  const spec = redacted(control.secrets, given);
  const resolved = await resolveModel(control, spec.endpoint, {
    where: "endpoint",
    splitBy: control.ids.next(),
  });
  const endpoint = await endpointOf(control, resolved);
  if (endpoint.state === "failed" || endpoint.state === "stopped" || endpoint.state === "stopping") {
    throw new SpotterError("endpoint_failed", `Endpoint "${endpoint.name}" is ${endpoint.state}.`, {
      where: "endpoint",
      hint: "Launch it again first.",
      status: 409,
    });
  }
  await checkDataset(control, spec.dataset, "dataset");
  await checkUserCode(control, spec);
  const record = newRecord(id, spec.name, spec, control.clock.now());
  const { adapter } = resolved;
  const document: EvalDocument = {
    v: 1,
    record,
    endpoint: endpoint.name,
    ...(adapter !== undefined && { adapter }),
    stream: evalStream(id),
    losses: 0,
  };
  const stored = await putFirst(control.store, evalKey(id), document, evalIndexes(record));
  control.wake();
  return stored.record;
}

async function endpointOf(control: Control, { endpoint, checkpoint }: Resolved): Promise<Endpoint> {
  if (endpoint !== undefined) return endpoint;
  if (checkpoint !== undefined) return acceptImplicit(control, checkpoint);
  throw new SpotterError("model_not_found", "The endpoint leads to nothing.", { where: "endpoint" });
}

/** Asks an eval to end. One that has ended stays as it is. */
export async function cancelEval(control: Control, id: string): Promise<EvalRecord> {
  await getOwnEval(control, id);
  const document = await changeEval(control, id, (current) =>
    isTerminalEval(current.record.state) || current.cancelAtMs !== undefined
      ? undefined
      : { ...current, cancelAtMs: control.clock.now() },
  );
  control.wake();
  return document?.record ?? (await getOwnEval(control, id)).record;
}
