import * as z from "zod/mini";
import { parsableUrl } from "./common.ts";
import { hardware } from "./hardware.ts";
import { checkpointId, modelRef } from "./model.ts";

/** A teacher outside: any server of OpenAI's `/v1/completions` that gives log-probabilities of the prompt. */
const outsideTeacher = z.strictObject({
  /** Up to and including `/v1`. */
  baseUrl: z
    .string()
    .check(
      z.maxLength(2_000),
      z.regex(/^https?:\/\/[^/@\s]+(\/\S*)?$/, "must be an http or https URL without a user"),
      parsableUrl,
    ),
  model: z.string().check(z.minLength(1)),
  /** Name of a stored secret: its key. */
  secret: z.optional(z.string()),
});

/** Who grades, or writes, what a student learns. Exactly one of `model`, `checkpoint`, `endpoint` and `url`. */
export const teacherSpec = z
  .strictObject({
    /** Served for the run and no longer, unless an endpoint serves it already. */
    model: z.optional(modelRef),
    /** As `model`. */
    checkpoint: z.optional(checkpointId),
    /** What serves a `model` or `checkpoint`, where there is a choice. Absent: processors. */
    hardware: z.optional(hardware),
    /** An endpoint of this home, or any other name that chat takes: an alias, `run@step`. */
    endpoint: z.optional(z.string().check(z.minLength(1))),
    url: z.optional(outsideTeacher),
    /** The student calls tools, over several turns. */
    agentic: z._default(z.boolean(), false),
  })
  .check(
    z.refine(
      ({ model, checkpoint, endpoint, url }) =>
        [model, checkpoint, endpoint, url].filter((each) => each !== undefined).length === 1,
      "must be exactly one of model, checkpoint, endpoint and url",
    ),
  );
export type TeacherSpec = z.infer<typeof teacherSpec>;

/** What of a run's spec a teacher has to do with. */
interface Taught {
  kind: string;
  teacher?: TeacherSpec | undefined;
  algorithm: { kind: string; answers?: string };
  rollout: { maxTurns: number };
  tools?: unknown;
  python?: { tools?: unknown } | undefined;
  environments?: unknown;
}

/** What of a run's spec does not go together with its teacher, or the want of one. */
export function teacherFaults(spec: Taught): { path: string[]; message: string }[] {
  const { kind, teacher, algorithm, rollout, tools, python, environments } = spec;
  if (teacher === undefined)
    return kind === "distill" ? [{ path: ["teacher"], message: "missing; a distillation needs one" }] : [];
  if (kind !== "distill")
    return [{ path: ["teacher"], message: `has nothing to do in a run of kind ${kind}` }];
  const isPlain = (tools ?? python?.tools) === undefined && rollout.maxTurns === 1;
  if (!teacher.agentic && !isPlain) {
    const message = "is false, and there are tools or several turns; set it to true";
    return [{ path: ["teacher", "agentic"], message }];
  }
  if (algorithm.answers !== "teacher" || (!teacher.agentic && environments === undefined)) return [];
  const message = "of the teacher are one to a prompt: no tools, turns or environments";
  return [{ path: ["algorithm", "answers"], message }];
}
