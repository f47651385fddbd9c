import * as z from "zod/mini";
import { nonNegativeInt } from "../../sdk/schema/common.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import {
  jobCallsReply,
  jobCheckpoint,
  jobCheckpointBegin,
  jobCheckpointComplete,
  jobCheckpointReply,
  jobCheckpointUploads,
  jobEnvironmentCalls,
  jobEvents,
  jobEventsReply,
  jobHeartbeat,
  jobHeartbeatReply,
  jobRewards,
  jobRewardsReply,
  jobRollouts,
  jobSpec,
  jobToolCalls,
} from "../../sdk/schema/job.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { bodyStream } from "../http/body.ts";
import { fileResponse } from "../http/file-response.ts";
import { route, type Route } from "../http/route.ts";
import { saveRollouts } from "../runs/rollouts.ts";
import { adapterBlob, adapterOf } from "./adapters.ts";
import { beginCheckpoint, completeCheckpoint, uploadFile } from "./checkpoints.ts";
import { conversionRoutes } from "./conversion-routes.ts";
import { receiveEvents } from "./events.ts";
import { heartbeat } from "./heartbeat.ts";
import { jobOf } from "./job-of.ts";
import { liveJob } from "./records.ts";
import { judgeForJob } from "./rewards.ts";
import { filesOf, jobSpecOf } from "./spec.ts";
import { teacherRoutes } from "./teacher.ts";
import { callEnvironments, callTools } from "./world.ts";

/** A step's rollouts, or a batch for the rewards, with token ids and texts. */
const BULK_BYTES = 256 * 1024 * 1024;

export function jobRoutes(control: Control): Route[] {
  return [
    ...reportRoutes(control),
    ...checkpointRoutes(control),
    ...conversionRoutes(control),
    ...fileRoutes(control),
  ];
}

function reportRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/jobs/:id",
      access: "job",
      summary: "What a container has to do",
      response: jobSpec,
      handle: (input) => jobSpecOf(control, jobOf(input)),
    }),
    route({
      method: "post",
      path: "/jobs/:id/heartbeat",
      access: "job",
      summary: "A container lives; the answer says whether to stop",
      body: jobHeartbeat,
      response: jobHeartbeatReply,
      handle: ({ param, body }) => heartbeat(control, param("id"), body.attempt),
    }),
    route({
      method: "post",
      path: "/jobs/:id/events",
      access: "job",
      summary: "What happened, in order; repeating is harmless",
      body: jobEvents,
      response: jobEventsReply,
      handle: async ({ param, body }) => ({
        acknowledged: await receiveEvents(control, param("id"), body.attempt, body.events),
      }),
    }),
    route({
      method: "post",
      path: "/jobs/:id/rewards",
      access: "job",
      summary: "Judge answers with the job's rewards",
      body: jobRewards,
      maxBodyBytes: BULK_BYTES,
      response: jobRewardsReply,
      handle: async ({ c, param, body }) => ({
        verdicts: await judgeForJob(control, param("id"), body.attempt, body.rows, c.req.raw.signal),
      }),
    }),
    ...worldRoutes(control),
    ...teacherRoutes(control),
    route({
      method: "post",
      path: "/jobs/:id/rollouts",
      access: "job",
      summary: "Store all rollouts of a step",
      body: jobRollouts,
      maxBodyBytes: BULK_BYTES,
      response: z.object({ count: nonNegativeInt }),
      async handle({ param, body }) {
        const job = await liveJob(control, param("id"), body.attempt);
        if (job.kind !== "train")
          throw new SpotterError("forbidden", `Job ${job.id} does not train: it has no rollouts.`);
        const index = await saveRollouts(control, job.owner, job.attempt, body.step, body.rollouts);
        return { count: index.count };
      },
    }),
  ];
}

function worldRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/jobs/:id/tools",
      access: "job",
      summary: "Call tools of the job's run",
      body: jobToolCalls,
      maxBodyBytes: BULK_BYTES,
      response: jobCallsReply,
      handle: async ({ c, param, body }) => ({
        results: await callTools(control, param("id"), body.attempt, body.calls, c.req.raw.signal),
      }),
    }),
    route({
      method: "post",
      path: "/jobs/:id/environments",
      access: "job",
      summary: "Begin episodes in the environments of the job's run, or go on with them",
      body: jobEnvironmentCalls,
      maxBodyBytes: BULK_BYTES,
      response: jobCallsReply,
      handle: async ({ c, param, body }) => ({
        results: await callEnvironments(control, param("id"), body.attempt, body.calls, c.req.raw.signal),
      }),
    }),
  ];
}

function checkpointRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/jobs/:id/checkpoints",
      access: "job",
      summary: "Announce a checkpoint; the answer says where each file goes",
      body: jobCheckpointBegin,
      response: jobCheckpointUploads,
      handle: ({ param, body }) => beginCheckpoint(control, param("id"), body),
    }),
    route({
      method: "post",
      path: "/jobs/:id/checkpoints/:step/complete",
      access: "job",
      summary: "Publish a checkpoint whose files are all there",
      body: jobCheckpointComplete,
      response: jobCheckpointReply,
      handle: ({ param, body }) =>
        completeCheckpoint(control, param("id"), stepOf(param("step")), body.attempt, body.parts),
    }),
    route({
      method: "put",
      path: "/jobs/:id/uploads/:step/*",
      access: "job",
      summary: "Upload one announced file",
      rawBody: "bytes",
      response: "empty",
      handle: ({ c, param, rest }) =>
        uploadFile(control, param("id"), stepOf(param("step")), rest(), bodyStream(c)),
    }),
  ];
}

function fileRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/jobs/:id/files/*",
      access: "job",
      summary: "Fetch one of the files that the job's spec lists",
      response: "bytes",
      async handle(input) {
        const file = filesOf(await jobSpecOf(control, jobOf(input))).get(input.rest());
        if (file === undefined) throw new SpotterError("forbidden", `This job may not read ${input.rest()}.`);
        return fileResponse(control, input.rest(), input.c.req.header("range"));
      },
    }),
    route({
      method: "get",
      path: "/jobs/:id/adapters/:checkpoint",
      access: "job",
      summary: "An adapter of the model that a replica serves, with where its files are",
      response: jobCheckpoint,
      handle: (input) => adapterOf(control, jobOf(input), input.param("checkpoint")),
    }),
    route({
      method: "get",
      path: "/jobs/:id/adapters/:checkpoint/files/*",
      access: "job",
      summary: "Fetch one of them",
      response: "bytes",
      async handle(input) {
        const key = await adapterBlob(control, jobOf(input), input.param("checkpoint"), input.rest());
        return fileResponse(control, key, input.c.req.header("range"));
      },
    }),
  ];
}

function stepOf(text: string): number {
  return parseWith(nonNegativeInt, Number(text), "The step");
}
