import * as z from "zod/mini";
import { SpotterError } from "../../schema/errors.ts";
import { sleep } from "../../retry.ts";
import { step, update, type UpdateParams } from "./deploy-stack.ts";
import { findLeftovers, isProved, type Leftovers } from "./leftovers.ts";
import { must, read } from "./pulumi-state.ts";
import type { Pulumi } from "./pulumi.ts";
import { kindOf } from "./resource-kinds.ts";
import { deleteIsolates, deleteSecrets, holdStill } from "./still-stack.ts";
import { taggedResources, type TaggedResource } from "./tagged-resources.ts";
import { livingJobs, livingTasks, stopWork, type Work } from "./work.ts";

export interface DestroyParams extends UpdateParams {
  region: string;
  /** Whether the bucket, the table and the secrets go too. */
  deletesData: boolean;
  /** How long what runs may take to end. */
  stopMs: number;
  /** How long AWS may take to forget tags of what is gone. */
  verifyMs: number;
}

const LOOK_EVERY_MS = 5_000;
const REASON = "The stack is being destroyed.";

/** What runs in a stack, of containers that the control plane started. */
export async function runningWork(resources: readonly TaggedResource[], region: string): Promise<Work[]> {
  const of = (kind: string) => resources.map(({ arn }) => arn).filter((arn) => kindOf(arn) === kind);
  const [tasks, jobs] = await Promise.all([
    livingTasks(of("ecs:cluster"), region),
    livingJobs(of("batch:job-queue"), region),
  ]);
  // A service's own tasks end with it; stopped alone, they would be started again.
  return [...tasks, ...jobs].filter(({ isOfService }) => isOfService !== true);
}

const exported = z.object({
  deployment: z.object({
    resources: z.optional(z.array(z.object({ urn: z.string(), protect: z.optional(z.boolean()) }))),
  }),
});

/** Types of what has data in it, alone or as part of a component. */
const WITH_DATA = /[:$](aws:s3\/bucket:Bucket|aws:dynamodb\/table:Table)::/;

export interface DataGuard {
  /** How the deployed stack, whatever its settings say by now, guards its bucket and its table. */
  state: "none" | "guarded" | "open";
  /** URNs of all that may not be destroyed. */
  guarded: string[];
}

export async function dataGuard(pulumi: Pulumi, stack: string): Promise<DataGuard> {
  const { stdout } = await must(pulumi, "stack", "export", "--stack", stack);
  const { resources = [] } = read(exported, ["stack", "export"], stdout).deployment;
  const data = resources.filter(({ urn }) => WITH_DATA.test(urn));
  const guarded = resources.filter(({ protect }) => protect === true).map(({ urn }) => urn);
  if (data.length === 0) return { state: "none", guarded };
  return { state: data.every(({ protect }) => protect === true) ? "guarded" : "open", guarded };
}

/**
 * Ends what runs, destroys the stack, and looks whether anything is left.
 *
 * @throws SpotterError `deploy_failed` in Pulumi's words; `timeout` where what runs does not end; `conflict` where the
 * data is to be kept and the deployed stack would delete it.
 */
export async function destroyStack(pulumi: Pulumi, params: DestroyParams): Promise<Leftovers> {
  const { stack, region, deletesData, tell } = params;
  const { state: guard, guarded } = await dataGuard(pulumi, stack);
  if (guard === "open" && !deletesData) throw unguarded(stack);
  if (guard === "guarded" && deletesData) {
    // Protection, and whether a bucket may go with what is in it, are part of the state: an update changes them.
    await must(pulumi, "config", "set", "spotter:removal", "destroy", "--stack", stack, "--plaintext");
    // Of nothing else: most of the stack may be destroyed already, and is not to be made again for this.
    await update(pulumi, { ...params, yes: true, only: guarded });
  }
  const resources = await taggedResources(stack, { region });
  const release = await holdStill(resources, region);
  try {
    await endWork(resources, params);
    const isolates = await deleteIsolates(resources, region);
    if (isolates > 0) tell(`Deleted ${isolates} functions of user code.`);
    const keeps = guard === "guarded" && !deletesData;
    const args = [
      "destroy",
      "--stack",
      stack,
      "--yes",
      "--skip-preview",
      ...(keeps ? ["--exclude-protected"] : []),
    ];
    await step(pulumi, args, "The destruction", params);
  } catch (error) {
    await release().catch((failure: unknown) => tell(SpotterError.from(failure).message));
    throw error;
  }
  if (deletesData) {
    const secrets = await deleteSecrets(stack, region);
    if (secrets > 0) tell(`Deleted ${secrets} secrets.`);
  }
  return verifyDestroyed(params);
}

async function endWork(resources: readonly TaggedResource[], params: DestroyParams): Promise<void> {
  const { region, stopMs, signal, tell } = params;
  let work = await runningWork(resources, region);
  if (work.length === 0) return;
  tell(`Ending ${work.length} containers; they save what they have.`);
  await stopWork(work, region, REASON);
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    work = await runningWork(resources, region);
    if (work.length === 0) return;
    if (waitedMs >= stopMs) break;
    await sleep(LOOK_EVERY_MS, signal);
  }
  throw new SpotterError("timeout", `${work.length} containers have not ended: ${namesOf(work)}.`, {
    where: work[0]?.arn,
    hint: "Run `spotter destroy` again; if they stay, stop them in the console of ECS or Batch.",
  });
}

/** What AWS still lists by its tag may be gone already: what is not is still there some minutes later. */
async function verifyDestroyed(params: DestroyParams): Promise<Leftovers> {
  const { stack, region, deletesData, verifyMs, signal, tell } = params;
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const leftovers = await findLeftovers({ stack, region, keepsData: !deletesData });
    if (isProved(leftovers) || waitedMs >= verifyMs) return leftovers;
    if (waitedMs === 0) tell("Destroyed. Waiting until AWS lists nothing of it any more …");
    await sleep(LOOK_EVERY_MS, signal);
  }
}

function unguarded(stack: string): SpotterError {
  return new SpotterError(
    "conflict",
    `The settings of ${stack} say that its data is kept, but what is deployed would lose it.`,
    {
      where: "spotter:removal",
      hint: "`spotter deploy` makes it as the settings say; `spotter destroy --delete-data` deletes the data with the rest.",
    },
  );
}

function namesOf(work: readonly Work[]): string {
  return work.map(({ name, status }) => `${name} (${status})`).join(", ");
}
