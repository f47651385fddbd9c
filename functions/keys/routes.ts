import { pageOf, pageQuery } from "../../sdk/schema/common.ts";
import { createdKey, createKey as createSchema, keyRecord } from "../../sdk/schema/key.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { KEYS, type KeyDocument } from "./key-ring.ts";
import { createKey, revokeKey } from "./keys.ts";

export function keyRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/keys",
      access: "admin",
      summary: "Create a key; it is shown this once",
      body: createSchema,
      response: createdKey,
      status: 201,
      handle: ({ body }) => createKey(control, body),
    }),
    route({
      method: "get",
      path: "/keys",
      access: "admin",
      summary: "List keys, revoked ones too",
      query: pageQuery,
      response: pageOf(keyRecord),
      async handle({ query }) {
        const page = await control.store.query<KeyDocument>(KEYS, query);
        return { items: page.items.map((item) => item.value.record), ...(page.next && { next: page.next }) };
      },
    }),
    route({
      method: "delete",
      path: "/keys/:id",
      access: "admin",
      summary: "Revoke a key at once",
      response: keyRecord,
      handle: ({ param }) => revokeKey(control, param("id")),
    }),
  ];
}
