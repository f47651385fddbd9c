import type { GpuClass, Hardware } from "../../../sdk/schema/hardware.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ForeignEngine } from "../../ports/containers.ts";

/** What a container runs on: a processor alone, or the class of its GPUs. */
type HardwareClass = "cpu" | GpuClass;

/** Where replicas of one hardware class run. */
export interface ServeTarget {
  /** Family, family:revision or ARN. Its `stopTimeout` is the grace of a stop: ECS takes no other. */
  taskDefinition: string;
  /** On-demand capacity provider: of an auto scaling group for GPUs, `FARGATE` for a processor. */
  capacityProvider: string;
  /** The same for spot; absent: this class has no spot, and asking for it is an error. */
  spotCapacityProvider?: string;
  /** Groups behind the providers. Their scaling activities say why no instance comes. Fargate has none. */
  autoScalingGroups?: string[];
  /** Default `awsvpc`: the task gets an address of its own in the subnets. `host`: that of its instance. */
  network?: "awsvpc" | "host";
}

/** Where runs and evals of one hardware class run. */
interface WorkTarget {
  /** Name, name:revision or ARN. It should have no retry strategy of its own: see docs/decisions/0006. */
  jobDefinition: string;
  jobQueue: string;
  /** A queue over spot instances; absent: this class has no spot. */
  spotJobQueue?: string;
}

/** Runs of one engine over several instances. */
export interface NodesTarget {
  /** Of each instance, such as `H100:8`. */
  hardwareClass: string;
  /** Most instances of one run. */
  most: number;
  /** Of the type `multinode`. */
  jobDefinition: string;
  jobQueue: string;
}

/**
 * What another maker's engine is started from, where the targets of a hardware class have the embedded one. `{class}`
 * in a name stands for the class, as in `spotter-dev-slime-{class}`: `spotter-dev-slime-h100-8`.
 */
export interface EngineTarget {
  /** Family of task definitions. Absent: it serves nothing. */
  serve?: string;
  /** Name of job definitions. Absent: it trains nothing. */
  work?: string;
  /** Absent: this stack has no runs over several instances. */
  nodes?: NodesTarget;
}

/** Everything the adapter must know about a stack. The entry fills it; nothing here reads the environment. */
export interface AwsContainersParams {
  /** Name of the stack. Everything started carries it as the tag `spotter:stack`; the sweep ends nothing else. */
  stack: string;
  /** ECS cluster for replicas, used by this stack alone. */
  cluster: string;
  subnets: string[];
  securityGroups: string[];
  /** Needed where the subnets have no NAT gateway. */
  assignPublicIp: boolean;
  /** Name of the one container in every task definition: overrides and log streams go by it. */
  containerName: string;
  /** CloudWatch log group of all task and job definitions. */
  logGroup: string;
  /** `awslogs-stream-prefix` of the task definitions. Batch tells its streams by itself. */
  logStreamPrefix: string;
  serve: Partial<Record<HardwareClass, ServeTarget>>;
  work: Partial<Record<HardwareClass, WorkTarget>>;
  /** Absent: the embedded engine alone. */
  engines?: Partial<Record<ForeignEngine, EngineTarget>>;
  region?: string;
  /** Address of all clients, for tests. Absent: AWS_ENDPOINT_URL or AWS itself. */
  endpoint?: string;
}

/** The part of `targets` that hardware asks for: of the smallest instances that have as many GPUs. */
export function targetOf<T>(
  targets: Partial<Record<HardwareClass, T>>,
  hardware: Hardware | undefined,
): { target: T; hardwareClass: HardwareClass } {
  const { gpu = "cpu", count = 1 } = hardware ?? {};
  const known = Object.keys(targets) as HardwareClass[];
  const ofGpu = known.filter((each) => each.split(":")[0] === gpu);
  const [hardwareClass = gpu] = ofGpu
    .filter((each) => gpusOf(each) >= count)
    .sort((a, b) => gpusOf(a) - gpusOf(b));
  const target = targets[hardwareClass];
  if (target !== undefined) return { target, hardwareClass };
  const wanted = ofGpu.length === 0 ? `${gpu} instances` : `instances with ${count} × ${gpu}`;
  throw new SpotterError("invalid_input", `This stack has no ${wanted}.`, {
    where: ofGpu.length === 0 ? "hardware.gpu" : "hardware.count",
    hint: `It has ${known.join(", ") || "none at all"}; others are added in the stack's configuration.`,
  });
}

function gpusOf(hardwareClass: HardwareClass): number {
  return Number(hardwareClass.split(":")[1] ?? Infinity);
}

/** `value`, or an error that says there is no spot of this class. */
export function spotOf<T>(value: T | undefined, hardwareClass: HardwareClass): T {
  if (value !== undefined) return value;
  throw new SpotterError("invalid_input", `This stack has no spot instances of ${hardwareClass}.`, {
    where: "hardware.spot",
    hint: "Ask without spot, or add spot to the stack's configuration.",
  });
}
