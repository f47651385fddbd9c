import * as z from "zod/mini";
import { pageOf, pageQuery, sha256 } from "../../sdk/schema/common.ts";
import {
  announceDataset as announceSchema,
  announceDatasetReply,
  datasetRecord,
  type DatasetRecord,
} from "../../sdk/schema/dataset.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { bodyStream } from "../http/body.ts";
import { route, type Route } from "../http/route.ts";
import { kept } from "../records/content.ts";
import { announceDataset, datasetBlob, getDataset, putDataset } from "./datasets.ts";

export function datasetRoutes(control: Control): Route[] {
  return [
    route({
      method: "put",
      path: "/datasets/:sha256",
      access: "write",
      summary: "Upload rows as JSONL under the SHA-256 of the body",
      rawBody: "jsonl",
      query: z.object({ name: z.optional(z.string().check(z.maxLength(200))) }),
      response: datasetRecord,
      handle: ({ c, param, query }) =>
        putDataset(control, parseWith(sha256, param("sha256"), "The hash"), bodyStream(c), query.name),
    }),
    route({
      method: "post",
      path: "/datasets/:sha256",
      access: "write",
      summary: "Announce rows: the record if they are there, else where to send them past this server",
      body: announceSchema,
      response: announceDatasetReply,
      handle: ({ param, body }) =>
        announceDataset(control, parseWith(sha256, param("sha256"), "The hash"), body),
    }),
    route({
      method: "get",
      path: "/datasets/:sha256",
      access: "write",
      summary: "Get the record of a dataset",
      response: datasetRecord,
      async handle({ param }) {
        const record = await getDataset(control, param("sha256"));
        return kept(control.blobs, datasetBlob(record.sha256), record, `Dataset ${record.sha256}`);
      },
    }),
    route({
      method: "get",
      path: "/datasets",
      access: "write",
      summary: "List datasets",
      query: pageQuery,
      response: pageOf(datasetRecord),
      async handle({ query }) {
        const page = await control.store.query<DatasetRecord>("datasets", query);
        return { items: page.items.map((item) => item.value), ...(page.next && { next: page.next }) };
      },
    }),
  ];
}
