import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { sha256Of } from "../records/hash.ts";
import type { ClientFiles } from "./bundle-client.ts";

export interface Asset {
  /** Its address, with its content's hash: it may be kept for ever. */
  path: string;
  content: string;
  type: string;
}

export interface Assets {
  script: Asset;
  style: Asset;
  icon: Asset;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.5" fill="none" stroke="#4a62c8" stroke-width="2"/><circle cx="8" cy="8" r="2.5" fill="#4a62c8"/></svg>`;

let loading: Promise<Assets> | undefined;

/** The browser's files: as built, or bundled from the sources at the first call where these run as they are. */
export function loadAssets(): Promise<Assets> {
  loading ??= load();
  // A failure is not kept: the sources may be mended while this runs.
  loading.catch(() => (loading = undefined));
  return loading;
}

async function load(): Promise<Assets> {
  const { script, style } = await (import.meta.url.endsWith(".ts") ? bundle() : readBuilt());
  return {
    script: asset("main.js", script, "text/javascript; charset=utf-8"),
    style: asset("main.css", style, "text/css; charset=utf-8"),
    icon: asset("icon.svg", ICON, "image/svg+xml"),
  };
}

function asset(name: string, content: string, type: string): Asset {
  return { path: `/ui/assets/${sha256Of(content).slice(0, 16)}/${name}`, content, type };
}

async function bundle(): Promise<ClientFiles> {
  const { bundleClient } = await import("./bundle-client.ts");
  return bundleClient(fileURLToPath(new URL("./client/", import.meta.url)));
}

async function readBuilt(): Promise<ClientFiles> {
  const read = (name: string) => readFile(new URL(`./client/${name}`, import.meta.url), "utf8");
  const [script, style] = await Promise.all([read("main.js"), read("main.css")]);
  return { script, style };
}
