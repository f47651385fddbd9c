import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";

const secretName = z
  .string()
  .check(
    z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "use letters, digits and underscores, as in a variable name"),
  );
const secretValue = z.strictObject({ value: z.string().check(z.minLength(1)) });
const secretNames = z.object({ names: z.array(z.string()) });

export function secretRoutes(control: Control): Route[] {
  return [
    route({
      method: "put",
      path: "/secrets/:name",
      access: "admin",
      summary: "Set a secret; no route ever answers with its value",
      body: secretValue,
      response: "empty",
      handle: ({ param, body }) =>
        control.secrets.set(parseWith(secretName, param("name"), "The name"), body.value),
    }),
    route({
      method: "get",
      path: "/secrets",
      access: "write",
      summary: "List the names of secrets",
      response: secretNames,
      handle: async () => ({ names: await control.secrets.list() }),
    }),
    route({
      method: "delete",
      path: "/secrets/:name",
      access: "admin",
      summary: "Remove a secret",
      response: "empty",
      async handle({ param }) {
        const name = param("name");
        if (!(await control.secrets.list()).includes(name)) {
          throw new SpotterError("not_found", `There is no secret "${name}".`, {
            hint: "`spotter secret list` shows the names.",
          });
        }
        await control.secrets.remove(name);
      },
    }),
  ];
}
