import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allRoutes } from "../../functions/app.ts";
import type { Control } from "../../functions/control.ts";
import type { Upstreams } from "../../functions/gateway/upstream.ts";
import { openApiDocument } from "./document.ts";

/** The text that openapi.json must have. Routes are declared, never called, so they need no control plane. */
export function currentOpenApi(): string {
  const manifest = readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const routes = allRoutes({} as Control, {} as Upstreams);
  return `${JSON.stringify(openApiDocument(routes, version), undefined, 2)}\n`;
}
