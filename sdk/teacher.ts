import * as z from "zod/mini";
import type { Checkpoint } from "./checkpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Model, modelOf } from "./model.ts";
import { SpotterError } from "./schema/errors.ts";
import type { GpuClass } from "./schema/hardware.ts";
import { parseWith } from "./schema/parse.ts";
import { teacherSpec, type TeacherSpec } from "./schema/teacher.ts";

/** One of `model`, `checkpoint`, `endpoint` and `url`, and how the student works with it. */
export interface TeacherParams {
  /** Served for the run and stopped with it, unless an endpoint serves it already. */
  model?: Model | string;
  /** As `model`: a checkpoint or its id, `run@step`. */
  checkpoint?: Checkpoint | string;
  /** What serves a `model` or `checkpoint` on AWS. Default: processors. */
  hardware?: { gpu?: GpuClass; fallbacks?: GpuClass[]; count?: number; spot?: boolean };
  /** An endpoint of this home or its name, an alias, a run (its latest checkpoint), or `run@step`. */
  endpoint?: Endpoint | string;
  /** Any server of OpenAI's `/v1/completions` that gives log-probabilities of prompts; `secret` names its stored key. */
  url?: { baseUrl: string; model: string; secret?: string };
  /** Let the student call `tools`, over `maxTurns` of the recipe. Default false. */
  agentic?: boolean;
}

/**
 * Who teaches. A text is a checkpoint where it has an `@`, a model where it has a slash or is a folder, and else an
 * endpoint, an alias or a run; where there is none of that name, a stored model.
 */
export type Teacher = Model | Checkpoint | Endpoint | string | TeacherParams;

const named = z.looseObject({ name: z.string() });
const identified = z.looseObject({ id: z.string() });
const text = z.string().check(z.minLength(1));

const params = z.strictObject({
  ...teacherSpec.shape,
  model: z.optional(z.union([text, z.looseObject({ name: text, ref: z.unknown() })])),
  checkpoint: z.optional(z.union([text, identified])),
  endpoint: z.optional(z.union([text, named])),
  agentic: z.optional(z.boolean()),
});

/**
 * The teacher as it goes over the wire.
 *
 * @throws SpotterError `invalid_input` or `unknown_key`, listing everything that is wrong.
 * @example
 * teacherOf("poet@40"); // { checkpoint: "poet@40", agentic: false }
 */
export function teacherOf(teacher: Teacher): TeacherSpec {
  const given = typeof teacher === "string" ? ofName(teacher) : ofObject(teacher);
  const { model, checkpoint, endpoint, ...rest } = parseWith(params, given, "teacher");
  return parseWith(
    teacherSpec,
    {
      ...rest,
      ...(model !== undefined && { model: modelOf(model as Model | string).ref }),
      ...(checkpoint !== undefined && {
        checkpoint: typeof checkpoint === "string" ? checkpoint : checkpoint.id,
      }),
      ...(endpoint !== undefined && { endpoint: typeof endpoint === "string" ? endpoint : endpoint.name }),
    },
    "teacher",
  );
}

function ofName(name: string): TeacherParams {
  if (/^[\w.-]+@\d+$/.test(name)) return { checkpoint: name };
  return /^[.~]|\//.test(name) ? { model: name } : { endpoint: name };
}

/** Objects of the SDK are told apart by what they have. */
function ofObject(teacher: Exclude<Teacher, string>): TeacherParams {
  if (typeof teacher !== "object" || teacher === null) throw noTeacher();
  if ("ref" in teacher) return { model: teacher };
  if ("runId" in teacher) return { checkpoint: teacher };
  if ("record" in teacher) return { endpoint: teacher };
  return teacher;
}

function noTeacher(): SpotterError {
  return new SpotterError("invalid_input", "The teacher is nothing that could teach.", {
    where: "teacher",
    hint: 'Give a model, a checkpoint, an endpoint, or a name such as "Qwen/Qwen3-4B".',
  });
}
