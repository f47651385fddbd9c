import * as z from "zod/mini";
import { checkpoint, checkpointVerdict } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { convertCheckpoint } from "../conversions/convert-checkpoint.ts";
import { route, type Route } from "../http/route.ts";
import { fileResponse } from "../http/file-response.ts";
import { checkpointPrefix, getCheckpoint } from "./records.ts";
import { deleteCheckpoint, pinCheckpoint } from "./remove.ts";
import { damageOf } from "./sound.ts";

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
      method: "patch",
      path: "/checkpoints/:id",
      access: "write",
      summary: "Pin a checkpoint, so that nothing removes it, or unpin it",
      body: z.strictObject({ pinned: z.boolean() }),
      response: checkpoint,
      handle: ({ param, body }) => pinCheckpoint(control, param("id"), body.pinned),
    }),
    route({
      method: "delete",
      path: "/checkpoints/:id",
      access: "write",
      summary: "Delete a checkpoint that nothing uses",
      response: "empty",
      handle: ({ param }) => deleteCheckpoint(control, param("id")),
    }),
    route({
      method: "post",
      path: "/checkpoints/:id/verify",
      access: "write",
      summary: "Read every file of a checkpoint and compare it with its hash",
      response: checkpointVerdict,
      async handle({ param }) {
        const damage = await damageOf(control, await getCheckpoint(control, param("id")));
        return damage === undefined ? { ok: true } : { ok: false, damage };
      },
    }),
    route({
      method: "post",
      path: "/checkpoints/:id/convert",
      access: "write",
      summary: "Have the Hugging Face weights made that a checkpoint lacks, again where that has failed",
      response: checkpoint,
      handle: ({ param }) => convertCheckpoint(control, param("id")),
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
        return fileResponse(control, key, c.req.header("range"));
      },
    }),
  ];
}
