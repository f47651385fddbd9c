import { onTestFinished } from "vitest";
import type { AwsContainersParams } from "../../../../functions/aws/aws-containers/params.ts";
import type { RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import type { FakeContainer } from "../../../fakes/aws/index.ts";
import { awsPlane, MINUTE_MS, SERVES, TRAINS_ON_CPU, type AwsPlane, type Job } from "./plane.ts";

interface Started {
  plane: AwsPlane;
  /** The one container that runs. */
  container: FakeContainer;
  job: Job;
}

/** An endpoint whose one replica serves. */
export async function serving(changes: object = {}): Promise<Started> {
  const plane = await awsPlane(onTestFinished, SERVES);
  await plane.launchEndpoint(changes);
  const container = await onlyContainer(plane);
  const job = plane.job(container);
  await job.beat();
  await job.report({ type: "ready", address: "127.0.0.1:1" });
  await plane.until(async () => (await plane.endpoint()).state === "ready", MINUTE_MS);
  return { plane, container, job };
}

/** A run whose first container runs, and has not said a word yet. */
export async function training(
  changes: Partial<RunSpecInput> = {},
  params: AwsContainersParams = TRAINS_ON_CPU,
): Promise<Started & { id: string }> {
  const plane = await awsPlane(onTestFinished, params);
  const id = await plane.launchRun(changes);
  const container = await onlyContainer(plane);
  return { plane, id, container, job: plane.job(container) };
}

export async function onlyContainer(plane: AwsPlane): Promise<FakeContainer> {
  await plane.until(() => plane.aws.containers.all.length === 1, 5 * MINUTE_MS);
  const [container] = plane.aws.containers.all;
  if (container === undefined) throw new Error("no container");
  return container;
}
