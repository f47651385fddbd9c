import { run as runSchema, updateRun as updateSchema } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { cancelRun } from "./cancel.ts";
import { deleteRun } from "./delete.ts";
import { pauseRun, resumeRun } from "./pause.ts";
import { updateRun } from "./update.ts";

/** What people may do to a run that exists. */
export function runLifeRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/runs/:id/cancel",
      access: "write",
      summary: "Ask a run to save a checkpoint and end",
      response: runSchema,
      handle: ({ param }) => cancelRun(control, param("id")),
    }),
    route({
      method: "post",
      path: "/runs/:id/pause",
      access: "write",
      summary: "Ask a run to save a checkpoint and let go of its container",
      response: runSchema,
      handle: ({ param }) => pauseRun(control, param("id")),
    }),
    route({
      method: "post",
      path: "/runs/:id/resume",
      access: "write",
      summary: "Let a paused run go on from its last checkpoint",
      response: runSchema,
      handle: ({ param }) => resumeRun(control, param("id")),
    }),
    route({
      method: "patch",
      path: "/runs/:id",
      access: "write",
      summary: "Change name, tags and notes of a run, or archive it",
      body: updateSchema,
      response: runSchema,
      handle: ({ param, body }) => updateRun(control, param("id"), body),
    }),
    route({
      method: "delete",
      path: "/runs/:id",
      access: "write",
      summary: "Delete a run that has ended, with everything of it; answers when it is gone",
      response: "empty",
      handle: ({ param }) => deleteRun(control, param("id")),
    }),
  ];
}
