import { checkpoint } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { blobResponse } from "../http/blob-response.ts";
import { checkpointPrefix, getCheckpoint } from "./records.ts";

export function checkpointRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/checkpoints/:id",
      access: "write",
      summary: "Get a checkpoint's manifest",
      response: checkpoint,
      handle: ({ param }) => getCheckpoint(control, param("id")),
    }),
    route({
      method: "get",
      path: "/checkpoints/:id/files/*",
      access: "write",
      summary: "Download one file of a checkpoint",
      response: "bytes",
      async handle({ c, param, rest }) {
        const found = await getCheckpoint(control, param("id"));
        const file = found.files.find(({ path }) => path === rest());
        if (file === undefined) {
          throw new SpotterError("not_found", `Checkpoint ${found.id} has no file ${rest()}.`, {
            hint: `It has ${found.files.map(({ path }) => path).join(", ")}.`,
          });
        }
        const key = `${checkpointPrefix(found.runId, found.step, found.attempt)}/${file.path}`;
        return blobResponse(control, key, c.req.header("range"));
      },
    }),
  ];
}
