import { getPath } from "hono/utils/url";

/** What OpenAI clients ask for when their base URL lacks `/v1`, or has another path in front. */
const NEAR_MISS = /^(?!\/(?:ui|jobs)\/).*\/(?:chat\/completions|completions|embeddings|responses)$/;

const OTHERS: ReadonlySet<string> = new Set(["/v1", "/tokenize", "/detokenize"]);

/** Whether OpenAI clients are talked to here, with their errors and open to every browser page. */
export function isGatewayPath(path: string): boolean {
  return path.startsWith("/v1/") || OTHERS.has(path) || NEAR_MISS.test(path);
}

/** The path that routes match: base URLs with a slash at the end make doubled ones, and clients add more. */
export function routedPath(request: Request): string {
  const path = getPath(request);
  if (!path.includes("//") && !path.endsWith("/")) return path;
  const plain = path.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
  return isGatewayPath(plain) ? plain : path;
}
