import * as z from "zod/mini";
import { sha256 } from "../../sdk/schema/common.ts";
import { jobCallsReply } from "../../sdk/schema/job.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import {
  callToolsRequest,
  codeLanguage,
  judgeRequest,
  judgeResponse,
  loadTasksRequest,
  loadTasksResponse,
  userCodeRecord,
} from "../../sdk/schema/user-code.ts";
import type { Control } from "../control.ts";
import { readBody } from "../http/body.ts";
import { route, type Route } from "../http/route.ts";
import { callStoredTools } from "./call-tools.ts";
import { loadTasks } from "./environments.ts";
import { judgeRows } from "./judge.ts";
import { kept } from "../records/content.ts";
import { getUserCode, userCodeBlob } from "./records.ts";
import { putUserCode } from "./user-code.ts";

/** Dictionaries and the like are bundled in; models are not. */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

export function userCodeRoutes(control: Control): Route[] {
  return [
    route({
      method: "put",
      path: "/user-code/:sha256",
      access: "write",
      summary: "Upload bundled user code under the SHA-256 of the body; it is loaded once in an isolate",
      rawBody: "bytes",
      maxBodyBytes: MAX_BUNDLE_BYTES,
      query: z.object({
        name: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
        language: z.optional(codeLanguage),
      }),
      response: userCodeRecord,
      async handle({ c, param, query }) {
        const hash = parseWith(sha256, param("sha256"), "The hash");
        const { name = "user code", language } = query;
        return putUserCode(control, hash, await readBody(c, MAX_BUNDLE_BYTES), name, language);
      },
    }),
    route({
      method: "get",
      path: "/user-code/:sha256",
      access: "write",
      summary: "Get the record of user code",
      response: userCodeRecord,
      async handle({ param }) {
        const record = await getUserCode(control, param("sha256"));
        return kept(control.blobs, userCodeBlob(record.sha256), record, `The bundle of ${record.name}`);
      },
    }),
    route({
      method: "post",
      path: "/user-code/:sha256/rewards",
      access: "write",
      summary: "Judge rows with the rewards of stored user code",
      body: judgeRequest,
      response: judgeResponse,
      async handle({ c, param, body }) {
        const setup = {
          code: { sha256: param("sha256"), secrets: body.secrets },
          names: body.names,
          timeoutMs: body.timeoutMs,
          maxMissingShare: 1,
        };
        let asked = 0;
        const { rows, judge } = body;
        const options = { judge, signal: c.req.raw.signal, onAsk: () => void asked++ };
        return { verdicts: await judgeRows(control, setup, rows, options), asked };
      },
    }),
    route({
      method: "post",
      path: "/user-code/:sha256/tools",
      access: "write",
      summary: "Call tools of stored user code; one result a call, in their order",
      body: callToolsRequest,
      response: jobCallsReply,
      async handle({ c, param, body: { calls, timeoutMs, secrets } }) {
        const setup = { code: { sha256: param("sha256"), secrets }, timeoutMs };
        return { results: await callStoredTools(control, setup, calls, c.req.raw.signal) };
      },
    }),
    route({
      method: "post",
      path: "/user-code/:sha256/environments/:name/rows",
      access: "write",
      summary: "The tasks that an environment of stored user code loads",
      body: loadTasksRequest,
      response: loadTasksResponse,
      async handle({ c, param, body: { args, timeoutMs, secrets } }) {
        const setup = { code: { sha256: param("sha256"), secrets }, export: param("name") };
        return { rows: await loadTasks(control, setup, args, { timeoutMs, signal: c.req.raw.signal }) };
      },
    }),
  ];
}
