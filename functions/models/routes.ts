import { pageOf, pageQuery, sha256 } from "../../sdk/schema/common.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import {
  deletedModel,
  isModelFile,
  modelRecord,
  type ModelRecord,
  pushModel as pushSchema,
  pushModelReply,
} from "../../sdk/schema/model.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { fileResponse } from "../http/file-response.ts";
import { bodyStream } from "../http/body.ts";
import { route, type Route } from "../http/route.ts";
import { getModel, modelBlob, pushModel, putModelFile } from "./models.ts";
import { deleteModel } from "./remove.ts";

export function modelRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/models",
      access: "write",
      summary: "Store weights under a name; the answer says which files are missing",
      body: pushSchema,
      response: pushModelReply,
      handle: ({ body }) => pushModel(control, body),
    }),
    route({
      method: "put",
      path: "/models/:sha256/files/*",
      access: "write",
      summary: "Upload one announced file of a model",
      rawBody: "bytes",
      response: "empty",
      handle: ({ c, param, rest }) =>
        putModelFile(control, parseWith(sha256, param("sha256"), "The hash"), rest(), bodyStream(c)),
    }),
    route({
      method: "get",
      path: "/models/:sha256/files/*",
      access: "write",
      summary: "Download one file of a model",
      response: "bytes",
      async handle({ c, param, rest }) {
        const hash = parseWith(sha256, param("sha256"), "The hash");
        if (!isModelFile(rest())) throw new SpotterError("not_found", `Models have no file ${rest()}.`);
        return fileResponse(control, modelBlob(hash, rest()), c.req.header("range"));
      },
    }),
    route({
      method: "get",
      path: "/models",
      access: "write",
      summary: "List stored models by name",
      query: pageQuery,
      response: pageOf(modelRecord),
      async handle({ query }) {
        const page = await control.store.query<ModelRecord>("models", query);
        return { items: page.items.map((item) => item.value), ...(page.next && { next: page.next }) };
      },
    }),
    route({
      method: "get",
      path: "/models/*",
      access: "write",
      summary: "Get a stored model; its name may hold a slash",
      response: modelRecord,
      handle: ({ rest }) => getModel(control, rest()),
    }),
    route({
      method: "delete",
      path: "/models/*",
      access: "write",
      summary: "Forget a stored model; its weights stay only while something else needs them",
      response: deletedModel,
      handle: ({ rest }) => deleteModel(control, rest()),
    }),
  ];
}
