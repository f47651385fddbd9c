import { CONTAINER_GID, CONTAINER_UID } from "../../bootstrap/container-program.ts";
import { at, eachRule, jsonAt, listAt, type Resource } from "../rule.ts";

/** A number that is written as one or as text; absent is `fallback`. */
function numberAt(props: unknown, path: string, fallback = 0): number {
  const value = at(props, path);
  return value === undefined || value === null ? fallback : Number(value);
}

export const poolsGoToZero = eachRule(
  "pools-go-to-zero",
  "No instance has to run: groups and Batch environments begin at none and may go back to it.",
  ({ type, props }) => {
    const [least, wanted] =
      type === "aws:autoscaling/group:Group"
        ? ["minSize", "desiredCapacity"]
        : type === "aws:batch/computeEnvironment:ComputeEnvironment"
          ? ["computeResources.minVcpus", "computeResources.desiredVcpus"]
          : [];
    if (least === undefined || wanted === undefined) return [];
    return [least, wanted]
      .filter((path) => numberAt(props, path) !== 0)
      .map((path) => `${path} is ${numberAt(props, path)}, so instances run while nobody uses them`);
  },
);

export const poolsCanBeDestroyed = eachRule(
  "pools-can-be-destroyed",
  "No instance keeps its group, and no group its provider, from being destroyed.",
  ({ type, props }) => {
    switch (type) {
      case "aws:ecs/capacityProvider:CapacityProvider":
        return at(props, "autoScalingGroupProvider.managedTerminationProtection") === "ENABLED"
          ? ["managedTerminationProtection is ENABLED"]
          : [];
      case "aws:autoscaling/group:Group":
        // It ends instances that are protected from scaling, too.
        return at(props, "forceDelete") === true
          ? []
          : ["forceDelete is off, so destroying it may never end"];
      case "aws:ec2/launchTemplate:LaunchTemplate":
        return at(props, "disableApiTermination") === true ? ["disableApiTermination is on"] : [];
      default:
        return [];
    }
  },
);

/** All containers that a resource describes. */
function containersOf({ type, props }: Resource): unknown[] {
  switch (type) {
    case "aws:ecs/taskDefinition:TaskDefinition":
      return listAt({ containers: jsonAt(props, "containerDefinitions") }, "containers");
    case "aws:batch/jobDefinition:JobDefinition": {
      const nodes = listAt(jsonAt(props, "nodeProperties"), "nodeRangeProperties");
      const ofTasks = [jsonAt(props, "ecsProperties"), ...nodes.map((node) => at(node, "ecsProperties"))];
      const containers = [
        jsonAt(props, "containerProperties"),
        ...nodes.map((node) => at(node, "container")),
      ];
      return [
        ...containers.filter((each) => each !== undefined),
        ...ofTasks
          .flatMap((each) => listAt(each, "taskProperties"))
          .flatMap((task) => listAt(task, "containers")),
      ];
    }
    default:
      return [];
  }
}

function imagesOf(resource: Resource): unknown[] {
  return resource.type === "aws:lambda/function:Function"
    ? listAt(resource.props, "imageUri")
    : containersOf(resource).map((each) => at(each, "image"));
}

export const imagesArePinned = eachRule(
  "images-are-pinned",
  "Containers name their image by its digest, so that what was tested is what runs.",
  (resource) =>
    imagesOf(resource)
      .filter((image) => !/@sha256:[0-9a-f]{64}$/.test(String(image)))
      .map((image) => `runs ${String(image)}, which may be another one tomorrow`),
);

/** On a host of ours, and not on one of Fargate's. */
function isOnHost({ props }: Resource): boolean {
  const where = [...listAt(props, "requiresCompatibilities"), ...listAt(props, "platformCapabilities")];
  return !where.includes("FARGATE");
}

export const hostsKeepTheirRole = eachRule(
  "hosts-keep-their-role",
  "On GPU hosts containers are of the user and group that a host refuses its role, and root is so where it cannot leave the group.",
  (resource) =>
    (isOnHost(resource) ? containersOf(resource) : []).flatMap((each) => {
      const user = String(at(each, "user"));
      if (user === `${CONTAINER_UID}:${CONTAINER_GID}`) return [];
      if (user !== `0:${CONTAINER_GID}`) return [`runs as ${user}, which a host takes for itself`];
      const words = [...listAt(each, "entryPoint"), ...listAt(each, "command")].map(String);
      const [first = "", bounding = "", , flag] = words;
      const isKept = first === "setpriv" && bounding.includes("-setgid") && flag === "--no-new-privs";
      return isKept ? [] : ["is root and may leave the group that a host knows it by"];
    }),
);
