import * as z from "zod/mini";
import { alias, putAlias as putSchema } from "../../sdk/schema/alias.ts";
import { recordName } from "../../sdk/schema/common.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { getAlias, putAlias, removeAlias } from "./aliases.ts";

export function aliasRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/aliases",
      access: "write",
      summary: "List aliases and where they lead",
      response: z.object({ items: z.array(alias) }),
      async handle() {
        await control.aliases.load();
        return { items: control.aliases.all() };
      },
    }),
    route({
      method: "get",
      path: "/aliases/:name",
      access: "write",
      summary: "Get an alias",
      response: alias,
      handle: ({ param }) => getAlias(control, param("name")),
    }),
    route({
      method: "put",
      path: "/aliases/:name",
      access: "write",
      summary: "Let a name lead to one model, or to several by weight; from the next request on",
      body: putSchema,
      response: alias,
      handle: ({ param, body }) => putAlias(control, parseWith(recordName, param("name"), "The alias"), body),
    }),
    route({
      method: "delete",
      path: "/aliases/:name",
      access: "write",
      summary: "Remove an alias; what it led to stays",
      response: "empty",
      handle: ({ param }) => removeAlias(control, param("name")),
    }),
  ];
}
