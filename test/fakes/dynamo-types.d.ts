/** The part of it that is used here; the package has no types of its own. */
declare module "dynalite" {
  import type { Server } from "node:http";
  export default function dynalite(options?: { createTableMs?: number }): Server;
}
