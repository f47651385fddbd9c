import type {
  RegisterTaskDefinitionRequest,
  RegisterTaskDefinitionResponse,
  TaskDefinition,
} from "@aws-sdk/client-ecs";
import { fargateSizeProblem } from "../fargate.ts";
import { Fault } from "../fault.ts";
import { arn } from "../ids.ts";
import { needsOf } from "./task-parts.ts";

/** Task definitions by family, each a list of revisions. */
export class TaskDefinitions {
  readonly #families = new Map<string, TaskDefinition[]>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  register(input: RegisterTaskDefinitionRequest): RegisterTaskDefinitionResponse {
    const { family = "", containerDefinitions = [], tags, ...rest } = input;
    if (!/^[A-Za-z0-9_-]{1,255}$/.test(family)) throw new Fault("ClientException", "Invalid family.");
    if (containerDefinitions.length === 0) {
      throw new Fault("ClientException", "Container list cannot be empty.");
    }
    for (const { name, image } of containerDefinitions) {
      if (name === undefined || image === undefined) {
        throw new Fault("ClientException", "Container.name and Container.image should not be null or empty.");
      }
    }
    if (input.requiresCompatibilities?.includes("FARGATE") === true) checkFargate(input);
    const revisions = this.#families.get(family) ?? [];
    const revision = revisions.length + 1;
    const taskDefinition: TaskDefinition = {
      ...rest,
      family,
      revision,
      taskDefinitionArn: arn("ecs", `task-definition/${family}:${revision}`),
      containerDefinitions: containerDefinitions.map((each) => ({
        ...each,
        essential: each.essential ?? true,
      })),
      status: "ACTIVE",
      registeredAt: new Date(this.#now()),
    };
    this.#families.set(family, [...revisions, taskDefinition]);
    return { taskDefinition, tags };
  }

  /** `family`, `family:revision` or the whole arn; the newest active revision when it names none. */
  find(reference: string): TaskDefinition {
    const name = reference.replace(/^arn:.*:task-definition\//, "");
    const [family = "", revision] = name.split(":");
    const revisions = this.#families.get(family) ?? [];
    const found =
      revision === undefined
        ? revisions.findLast(({ status }) => status === "ACTIVE")
        : revisions[Number(revision) - 1];
    if (found === undefined) throw new Fault("ClientException", "Unable to describe task definition.");
    return found;
  }

  active(reference: string): TaskDefinition {
    const found = this.find(reference);
    if (found.status !== "ACTIVE") throw new Fault("ClientException", "TaskDefinition is inactive");
    return found;
  }

  deregister(reference: string): TaskDefinition {
    const found = this.find(reference);
    found.status = "INACTIVE";
    found.deregisteredAt = new Date(this.#now());
    return found;
  }

  arns(familyPrefix: string | undefined, status: string): string[] {
    return [...this.#families.entries()]
      .filter(([family]) => familyPrefix === undefined || family.startsWith(familyPrefix))
      .flatMap(([, revisions]) => revisions)
      .filter((each) => each.status === status)
      .map(({ taskDefinitionArn }) => taskDefinitionArn ?? "");
  }
}

/** What a definition for Fargate must say; the real service refuses it as late as this, too. */
function checkFargate(input: RegisterTaskDefinitionRequest): void {
  const { networkMode, cpu, memory, executionRoleArn, containerDefinitions = [] } = input;
  if (networkMode !== "awsvpc")
    throw new Fault("ClientException", "Fargate only supports network mode 'awsvpc'.");
  if (cpu === undefined || memory === undefined) {
    throw new Fault(
      "ClientException",
      "Fargate requires that 'cpu' and 'memory' be defined at the task level.",
    );
  }
  const problem = fargateSizeProblem(needsOf({ cpu, memory, containerDefinitions }, {}));
  if (problem !== undefined) throw new Fault("ClientException", problem);
  const needsRole = containerDefinitions.some(
    ({ secrets = [], logConfiguration }) => secrets.length > 0 || logConfiguration?.logDriver === "awslogs",
  );
  if (needsRole && executionRoleArn === undefined) {
    throw new Fault(
      "ClientException",
      "Fargate requires task definition to have execution role ARN to support it.",
    );
  }
}
