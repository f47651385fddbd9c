import type { JobDetail } from "@aws-sdk/client-batch";
import * as z from "zod/mini";

/** What EventBridge delivers: at least once, in any order, perhaps late. */
const event = z.object({ "detail-type": z.string(), detail: z.record(z.string(), z.unknown()) });

const text = z.optional(z.nullable(z.string()));
const taskChange = z.object({
  taskArn: z.string(),
  version: z.number(),
  lastStatus: z.string(),
  stopCode: text,
  stoppedReason: text,
  startedAt: text,
  containerInstanceArn: text,
  containers: z.optional(
    z.array(z.object({ name: text, exitCode: z.optional(z.nullable(z.number())), reason: text })),
  ),
});
export type TaskChange = z.infer<typeof taskChange>;

const jobChange = z.looseObject({ jobId: z.string(), status: z.string() });
const spotWarning = z.object({ "instance-id": z.string() });

export type Heard =
  | { type: "task"; change: TaskChange }
  | { type: "job"; job: JobDetail }
  | { type: "spot"; instanceId: string };

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
      // The detail is a job as DescribeJobs answers it; what is used of it is optional there, too.
      return job.success ? { type: "job", job: job.data as unknown as JobDetail } : undefined;
    }
    case "EC2 Spot Instance Interruption Warning": {
      const warning = spotWarning.safeParse(detail);
      return warning.success ? { type: "spot", instanceId: warning.data["instance-id"] } : undefined;
    }
    default:
      return undefined;
  }
}
