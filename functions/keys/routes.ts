import { pageOf, pageQuery } from "../../sdk/schema/common.ts";
import {
  createdKey,
  createKey as createSchema,
  keyRecord,
  updateKey as updateSchema,
} from "../../sdk/schema/key.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { createKey, listKeys, revokeKey, updateKey } from "./keys.ts";

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
      summary: "List keys and what they used this month, revoked ones too",
      query: pageQuery,
      response: pageOf(keyRecord),
      handle: ({ query }) => listKeys(control, query),
    }),
    route({
      method: "patch",
      path: "/keys/:id",
      access: "admin",
      summary: "Change a key's limits and endpoints in place",
      body: updateSchema,
      response: keyRecord,
      handle: ({ param, body }) => updateKey(control, param("id"), body),
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
