import type * as miniflare from "miniflare";
import { SpotterError } from "../../../sdk/schema/errors.ts";

export type MiniflareModule = typeof miniflare;

/** The optional package, loaded when it is needed: most installations never do. */
export async function loadMiniflare(): Promise<MiniflareModule> {
  try {
    return await import("miniflare");
  } catch (cause) {
    throw new SpotterError("package_missing", "Developing user code needs the package miniflare.", {
      hint: "npm install --save-dev miniflare",
      cause,
    });
  }
}
