import type { JobDetail } from "@aws-sdk/client-batch";
import * as z from "zod/mini";

/** What EventBridge delivers: at least once, in any order, perhaps late. */
const event = z.object({ "detail-type": z.string(), detail: z.record(z.string(), z.unknown()) });

/** What is not as it should be says nothing: the rest of the event still counts. */
const text = z.catch(z.optional(z.string()), undefined);
const whole = z.catch(z.optional(z.int()), undefined);
/** ISO 8601, as ms since 1970. */
const time = z.catch(
  z.optional(
    z.pipe(
      z.string(),
      z.pipe(
        z.transform((words: string) => Date.parse(words)),
        z.int(),
      ),
    ),
  ),
  undefined,
);

const taskChange = z.object({
  taskArn: z.string(),
  version: z.int(),
  lastStatus: z.string(),
  stopCode: text,
  stoppedReason: text,
  startedAt: time,
  containerInstanceArn: text,
  containers: z.catch(z.array(z.object({ name: text, exitCode: whole, reason: text })), []),
});
export type TaskChange = z.infer<typeof taskChange>;

const jobContainer = z.catch(
  z.optional(z.object({ exitCode: whole, reason: text, containerInstanceArn: text, logStreamName: text })),
  undefined,
);
const flag = z.catch(z.optional(z.boolean()), undefined);
/** A job as DescribeJobs answers it, as far as it is used. */
const jobChange = z.object({
  jobId: z.string(),
  status: z.string(),
  statusReason: text,
  createdAt: whole,
  startedAt: whole,
  isTerminated: flag,
  isCancelled: flag,
  tags: z.catch(z.record(z.string(), z.string()), {}),
  container: jobContainer,
  attempts: z.catch(z.array(z.object({ container: jobContainer })), []),
  /** Of a job over several nodes. */
  nodeProperties: z.catch(z.optional(z.object({ mainNode: whole })), undefined),
});
/** Both the warning of a spot instance and the hint that comes before it, perhaps long before, perhaps never. */
const spotWarning = z.object({ "instance-id": z.string().check(z.regex(/^i-[0-9a-f]{8,32}$/)) });

type Heard =
  | { type: "task"; change: TaskChange }
  | { type: "job"; job: JobDetail & { jobId: string } }
  | { type: "spot" | "rebalance"; instanceId: string };

/** What an event tells; undefined for one that nobody here listens to. */
export function readEvent(raw: unknown): Heard | undefined {
  const parsed = event.safeParse(raw);
  if (!parsed.success) return undefined;
  const { detail } = parsed.data;
  switch (parsed.data["detail-type"]) {
    case "ECS Task State Change": {
      const change = taskChange.safeParse(detail);
      return change.success ? { type: "task", change: change.data } : undefined;
    }
    case "Batch Job State Change": {
      const job = jobChange.safeParse(detail);
      return job.success ? { type: "job", job: job.data as JobDetail & { jobId: string } } : undefined;
    }
    case "EC2 Spot Instance Interruption Warning":
      return ofInstance("spot", detail);
    case "EC2 Instance Rebalance Recommendation":
      return ofInstance("rebalance", detail);
    default:
      return undefined;
  }
}

function ofInstance(type: "spot" | "rebalance", detail: unknown): Heard | undefined {
  const warning = spotWarning.safeParse(detail);
  return warning.success ? { type, instanceId: warning.data["instance-id"] } : undefined;
}
