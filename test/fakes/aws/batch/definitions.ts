import type * as batch from "@aws-sdk/client-batch";
import { Fault } from "../fault.ts";
import { arn } from "../ids.ts";

type Definition = batch.JobDefinition & {
  jobDefinitionName: string;
  jobDefinitionArn: string;
  revision: number;
};

/** Job definitions by name, each a list of revisions. */
export class JobDefinitions {
  readonly #names = new Map<string, Definition[]>();

  register(input: batch.RegisterJobDefinitionRequest): Definition {
    const {
      jobDefinitionName = "",
      type,
      containerProperties,
      nodeProperties,
      retryStrategy,
      timeout,
    } = input;
    if (!namePattern.test(jobDefinitionName)) throw clientError("The job definition's name is not allowed.");
    if (type === "multinode") checkNodes(nodeProperties);
    else if (type !== "container") throw clientError(`the fake Batch has no ${String(type)} jobs`);
    else if (containerProperties?.image === undefined)
      throw clientError("containerProperties.image is required.");
    checkRetry(retryStrategy);
    checkTimeout(timeout);
    const revisions = this.#names.get(jobDefinitionName) ?? [];
    const revision = revisions.length + 1;
    const definition: Definition = {
      ...input,
      jobDefinitionName,
      type,
      revision,
      jobDefinitionArn: arn("batch", `job-definition/${jobDefinitionName}:${revision}`),
      status: "ACTIVE",
      containerOrchestrationType: "ECS",
    };
    this.#names.set(jobDefinitionName, [...revisions, definition]);
    return definition;
  }

  find(reference: string): Definition | undefined {
    const [name = "", revision] = reference.replace(/^arn:.*:job-definition\//, "").split(":");
    const revisions = this.#names.get(name) ?? [];
    return revision === undefined
      ? revisions.findLast(({ status }) => status === "ACTIVE")
      : revisions[Number(revision) - 1];
  }

  active(reference: string): Definition {
    const found = this.find(reference);
    if (found?.status !== "ACTIVE") throw clientError("JobDefinition not found or not ACTIVE.");
    return found;
  }

  list(name?: string, status?: string): Definition[] {
    return [...this.#names.values()]
      .flat()
      .filter(
        (each) =>
          (name === undefined || each.jobDefinitionName === name) &&
          (status === undefined || each.status === status),
      );
  }
}

function checkNodes(properties: batch.NodeProperties | undefined): void {
  const { numNodes = 0, mainNode = 0, nodeRangeProperties = [] } = properties ?? {};
  if (numNodes < 1 || mainNode >= numNodes) throw clientError("numNodes must be larger than mainNode.");
  if (nodeRangeProperties.length === 0 || nodeRangeProperties.length > 5)
    throw clientError("A multi-node job has one to five node ranges.");
  for (const { container } of nodeRangeProperties)
    if (container?.image === undefined) throw clientError("container.image is required.");
}

export const clientError = (message: string): Fault => new Fault("ClientException", message);

export const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export function checkRetry(strategy: batch.RetryStrategy | undefined): void {
  if (strategy === undefined) return;
  const { attempts, evaluateOnExit } = strategy;
  if (attempts !== undefined && (attempts < 1 || attempts > 10))
    throw clientError("attempts must be between 1 and 10.");
  if (evaluateOnExit === undefined) return;
  if (attempts === undefined) throw clientError("evaluateOnExit needs attempts.");
  if (evaluateOnExit.length > 5) throw clientError("evaluateOnExit has at most 5 rules.");
  for (const { action, onExitCode, onReason, onStatusReason } of evaluateOnExit) {
    if (!["RETRY", "EXIT"].includes(action?.toUpperCase() ?? ""))
      throw clientError("action must be RETRY or EXIT.");
    for (const pattern of [onExitCode, onReason, onStatusReason]) {
      if (pattern === undefined) continue;
      if (pattern.length > 512 || pattern.slice(0, -1).includes("*")) {
        throw clientError(`The pattern ${pattern} is not allowed: one asterisk, at its end.`);
      }
    }
    if (onExitCode !== undefined && !/^\d*\*?$/.test(onExitCode))
      throw clientError("onExitCode must be digits.");
    if (onReason === undefined && onStatusReason === undefined && onExitCode === undefined) {
      throw clientError("A rule needs at least one condition.");
    }
  }
}

export function checkTimeout(timeout: batch.JobTimeout | undefined): void {
  const seconds = timeout?.attemptDurationSeconds;
  if (seconds !== undefined && seconds < 60) throw clientError("attemptDurationSeconds must be at least 60.");
}
