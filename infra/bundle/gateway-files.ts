import { bundle } from "../bundle.ts";
import type { ArchiveFile } from "./tar.ts";

/** The gateway and all it imports, for a container with Node: `node index.mjs`. */
export async function gatewayFiles(): Promise<ArchiveFile[]> {
  const files = Object.entries(await bundle(new URL("../../functions/gateway.ts", import.meta.url)));
  return files.map(([path, text]) => ({ path, content: Buffer.from(text) }));
}
