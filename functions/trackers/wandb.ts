import * as z from "zod/mini";
import { WANDB_URL, type Tracker } from "../../sdk/schema/tracker.ts";
import { askTracker, shown, type TrackerHttp } from "./tracker-http.ts";
import { settingsOf, TrackerRefusal, type TrackerSink } from "./tracker-sink.ts";

/** Lines of one call: some hundred kilobytes. */
const MAX_LINES = 500;

const UPSERT = `mutation UpsertBucket(
  $name: String, $project: String, $entity: String, $groupName: String, $displayName: String,
  $config: JSONString, $tags: [String!]
) {
  upsertBucket(input: {
    name: $name, modelName: $project, entityName: $entity, groupName: $groupName, displayName: $displayName,
    config: $config, tags: $tags
  }) {
    bucket { id name project { name entity { name } } }
    inserted
  }
}`;

/** A part of an address, and of what people are shown. */
const wandbPart = z.string().check(z.regex(/^[^\p{C}\s/?#%<>"]{1,200}$/u));

const upsertReply = z.object({
  errors: z.optional(z.array(z.looseObject({ message: z.string() }))),
  data: z.nullish(
    z.object({
      upsertBucket: z.nullish(
        z.object({
          bucket: z.object({
            name: wandbPart,
            project: z.object({ name: wandbPart, entity: z.object({ name: wandbPart }) }),
          }),
        }),
      ),
    }),
  ),
});

/**
 * Tells W&B, the way its own client does: `upsertBucket` makes a run or finds it, and lines of its history are put at
 * their number in `file_stream`, so that a line that is sent twice is there once. W&B documents neither.
 */
export function wandbSink(
  tracker: Extract<Tracker, { kind: "wandb" }>,
  key: string,
  http: TrackerHttp,
): TrackerSink {
  const base = tracker.url.replace(/\/+$/, "");
  const authorization = `Basic ${Buffer.from(`api:${key}`).toString("base64")}`;
  const post = (path: string, json: unknown) =>
    askTracker(http, { method: "POST", url: `${base}/${path}`, authorization, json });
  const stream = (place: Record<string, unknown>, json: unknown) =>
    post(
      [
        "files",
        ...[place["entity"], place["project"], place["run"]].map((each) => encodeURIComponent(String(each))),
        "file_stream",
      ].join("/"),
      json,
    );

  return {
    // A step is one line of the history; a later line of the same step would be dropped.
    merges: true,
    async begin({ run, spec }) {
      const config = Object.fromEntries(
        Object.entries(settingsOf(spec)).map(([name, value]) => [name, { value }]),
      );
      const variables = {
        name: run.id,
        project: tracker.project,
        entity: tracker.entity ?? null,
        groupName: tracker.group ?? null,
        displayName: run.name ?? run.id,
        config: JSON.stringify(config),
        tags: run.tags,
      };
      const answer = z.safeParse(upsertReply, await post("graphql", { query: UPSERT, variables }));
      const bucket = answer.data?.data?.upsertBucket?.bucket;
      if (bucket === undefined) {
        const why = answer.data?.errors?.map(({ message }) => message).join("; ");
        throw new TrackerRefusal(
          why ? `refused: ${shown(why)}` : "answered as W&B does not",
          why ? 400 : undefined,
        );
      }
      const { name: project, entity } = bucket.project;
      const pages = base === WANDB_URL ? "https://wandb.ai" : base;
      return {
        place: { entity: entity.name, project, run: bucket.name, startedAtMs: run.createdAtMs },
        link: `${pages}/${entity.name}/${project}/runs/${bucket.name}`,
      };
    },
    async add(place, rows, before, after) {
      const startedAtMs = Number(place["startedAtMs"]);
      const lines = rows.map(({ step, atMs, metrics }) =>
        JSON.stringify({
          ...metrics,
          _step: step,
          _timestamp: atMs / 1_000,
          _runtime: Math.max(0, atMs - startedAtMs) / 1_000,
        }),
      );
      for (let at = 0; at < lines.length; at += MAX_LINES) {
        const content = lines.slice(at, at + MAX_LINES);
        await stream(place, {
          files: { "wandb-history.jsonl": { offset: before.rows + at, content } },
        });
      }
      await stream(place, {
        files: { "wandb-summary.json": { offset: 0, content: [summaryOf(after.last)] } },
      });
      return place;
    },
    async end(place, { state }, { last }) {
      const exitcode = state === "succeeded" ? 0 : state === "cancelled" ? 255 : 1;
      await stream(place, {
        files: { "wandb-summary.json": { offset: 0, content: [summaryOf(last)] } },
        complete: true,
        exitcode,
      });
    },
  };
}

function summaryOf(last: Record<string, [step: number, value: number]>): string {
  const steps = Object.values(last).map(([step]) => step);
  const values = Object.fromEntries(Object.entries(last).map(([name, [, value]]) => [name, value]));
  return JSON.stringify({ ...values, ...(steps.length > 0 && { _step: Math.max(...steps) }) });
}
