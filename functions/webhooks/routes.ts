import { pageOf } from "../../sdk/schema/common.ts";
import { webhook } from "../../sdk/schema/run-spec.ts";
import { webhookRecord } from "../../sdk/schema/webhook.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { listWebhooks, removeWebhook, setWebhook } from "./every-run.ts";

export function webhookRoutes(control: Control): Route[] {
  return [
    route({
      method: "put",
      path: "/webhooks",
      access: "admin",
      summary: "Set a webhook that is told of every run; the same URL again replaces it",
      body: webhook,
      response: webhookRecord,
      handle: ({ body }) => setWebhook(control, body),
    }),
    route({
      method: "get",
      path: "/webhooks",
      access: "admin",
      summary: "List the webhooks that are told of every run",
      response: pageOf(webhookRecord),
      handle: async () => ({ items: await listWebhooks(control) }),
    }),
    route({
      method: "delete",
      path: "/webhooks/:id",
      access: "admin",
      summary: "Remove a webhook that is told of every run",
      response: "empty",
      handle: ({ param }) => removeWebhook(control, param("id")),
    }),
  ];
}
