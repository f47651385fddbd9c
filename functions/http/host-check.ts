import type { Context } from "hono";
import { SpotterError } from "../../sdk/schema/errors.ts";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Refuses names that a hostile page could point at this machine (DNS rebinding). */
export function checkHost(c: Context, publicUrl: string): void {
  const url = new URL(c.req.url);
  const host = c.req.header("host") ?? url.host;
  if (isOwnHost(host, publicUrl)) return;
  throw new SpotterError("forbidden", "This host name does not belong to Spotter.", {
    where: "Host",
    hint: `Use ${publicUrl}.`,
  });
}

/** Whether a Host header names this machine, or what it is known as. */
export function isOwnHost(host: string, publicUrl: string): boolean {
  const name = host.toLowerCase();
  return LOOPBACK.has(name.replace(/:\d+$/, "")) || name === new URL(publicUrl).host.toLowerCase();
}
