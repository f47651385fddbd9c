import { SpotterError } from "../../sdk/schema/errors.ts";
import { jobTeacher, jobTeacherReply } from "../../sdk/schema/job-teacher.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { getRunSpec } from "../runs/records.ts";
import { askTeacher, type TeacherTarget } from "../teachers/ask.ts";
import { liveJob, type JobRecord } from "./records.ts";

/** A function has a minute; a daemon waits for small machines, and answers before the container gives up on it. */
const SHORT_MS = 50_000;
const LONG_MS = 280_000;

export function teacherRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/jobs/:id/teacher",
      access: "job",
      summary: "Have the teacher of the job's run score tokens, read a text, or answer prompts",
      body: jobTeacher,
      response: jobTeacherReply,
      async handle({ c, param, body }) {
        const job = await liveJob(control, param("id"), body.attempt);
        const target = await targetOf(control, job, c.req.header("authorization"));
        return askTeacher(target, body.question, {
          signal: c.req.raw.signal,
          redact: (text) => control.secrets.redact(text),
          timeoutMs: control.shared === undefined ? LONG_MS : SHORT_MS,
        });
      },
    }),
  ];
}

/**
 * An endpoint of this home is asked the way everybody asks it, with the job's own token, which lets it in there and
 * nowhere else: so it is held while it is cold, balanced and counted.
 */
async function targetOf(
  control: Control,
  job: JobRecord,
  authorization: string | undefined,
): Promise<TeacherTarget> {
  const { teacher } = job.kind === "train" ? await getRunSpec(control, job.owner) : {};
  if (teacher?.url !== undefined) {
    const { baseUrl, model, secret } = teacher.url;
    const key = secret === undefined ? undefined : (await control.secrets.resolve([secret]))[secret];
    return { baseUrl, model, ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  }
  const model = teacher?.endpoint ?? job.endpoint;
  if (teacher === undefined || model === undefined) {
    throw new SpotterError("forbidden", `Job ${job.id} has no teacher.`, {
      hint: "Only runs of kind distill have one.",
    });
  }
  return {
    baseUrl: `${control.config.publicUrl()}/v1`,
    model,
    ...(authorization !== undefined && { authorization }),
  };
}
