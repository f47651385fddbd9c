import { sha256 } from "../../sdk/schema/common.ts";
import {
  jobCheckpointComplete,
  jobCheckpointUploads,
  jobConversion,
  jobConversionBegin,
  jobConversionReply,
} from "../../sdk/schema/job.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { bodyStream } from "../http/body.ts";
import { fileResponse } from "../http/file-response.ts";
import { route, type Route } from "../http/route.ts";
import {
  beginConversion,
  completeConversion,
  conversionBlob,
  conversionOf,
  putConversionFile,
} from "./conversions.ts";
import { jobOf } from "./job-of.ts";

/** A conversion's name is the SHA-256 of what was converted, and how. */
function keyOf(text: string): string {
  return parseWith(sha256, text, "The key of the conversion");
}

export function conversionRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/jobs/:id/conversions/:key",
      access: "job",
      summary: "Weights that were converted before, with where their files are",
      response: jobConversion,
      handle: (input) => conversionOf(control, jobOf(input), keyOf(input.param("key"))),
    }),
    route({
      method: "post",
      path: "/jobs/:id/conversions/:key",
      access: "job",
      summary: "Announce converted weights; the answer says where each file goes",
      body: jobConversionBegin,
      response: jobCheckpointUploads,
      handle: ({ param, body }) => beginConversion(control, param("id"), keyOf(param("key")), body),
    }),
    route({
      method: "post",
      path: "/jobs/:id/conversions/:key/complete",
      access: "job",
      summary: "Publish converted weights whose files are all there",
      body: jobCheckpointComplete,
      response: jobConversionReply,
      handle: ({ param, body }) =>
        completeConversion(control, param("id"), keyOf(param("key")), body.attempt, body.parts),
    }),
    route({
      method: "put",
      path: "/jobs/:id/conversions/:key/files/*",
      access: "job",
      summary: "Upload one announced file",
      rawBody: "bytes",
      response: "empty",
      handle: (input) =>
        putConversionFile(
          control,
          jobOf(input),
          keyOf(input.param("key")),
          input.rest(),
          bodyStream(input.c),
        ),
    }),
    route({
      method: "get",
      path: "/jobs/:id/conversions/:key/files/*",
      access: "job",
      summary: "Fetch one of them",
      response: "bytes",
      async handle(input) {
        const key = await conversionBlob(control, jobOf(input), keyOf(input.param("key")), input.rest());
        return fileResponse(control, key, input.c.req.header("range"));
      },
    }),
  ];
}
