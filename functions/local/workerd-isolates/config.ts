import { isIP } from "node:net";
import { BUNDLE_MODULE } from "../isolate-main/main-module.ts";

/** Fixed, so that an update of workerd does not change what user code sees. */
export const COMPATIBILITY_DATE = "2026-04-01";

export interface ConfigParams {
  socketPath: string;
  heapMiB: number;
  allowHosts: readonly string[];
}

/**
 * Text configuration of one workerd process, next to `main.mjs` and `bundle.mjs`. Every outgoing request goes
 * to a worker of ours that refuses it, or lets it through to a listed host; a bare network service without
 * rights would answer "internal error" instead of the reason.
 */
export function configText({ socketPath, heapMiB, allowHosts }: ConfigParams): string {
  const allowed = allowHosts.length > 0;
  const services = [
    `(name = "main", worker = .main)`,
    `(name = "out", worker = .out)`,
    allowed
      ? `(name = "net", network = (allow = [${networks(allowHosts).map(quote).join(", ")}], tlsOptions = (trustBrowserCas = true)))`
      : `(name = "net", network = (allow = [], deny = ["0.0.0.0/0", "::/0"]))`,
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ ${services.join(", ")} ],
  sockets = [ (name = "http", address = ${quote(`unix:${socketPath}`)}, http = (), service = "main") ],
  v8Flags = [ "--max-heap-size=${heapMiB}" ],
  logging = (structuredLogging = true)
);
const main :Workerd.Worker = (
  modules = [ (name = "main.mjs", esModule = embed "main.mjs"), (name = "${BUNDLE_MODULE}", esModule = embed "${BUNDLE_MODULE}") ],
  compatibilityDate = "${COMPATIBILITY_DATE}", compatibilityFlags = ["nodejs_compat"], globalOutbound = "out"
);
const out :Workerd.Worker = (
  modules = [ (name = "out.mjs", esModule = embed "out.mjs") ],
  compatibilityDate = "${COMPATIBILITY_DATE}", globalOutbound = "net"
);
`;
}

/** The worker between user code and the network. Redirects come back to user code and are judged anew. */
export function outboundModule(allowHosts: readonly string[]): string {
  return `const allowed = new Set(${JSON.stringify(allowHosts.map((host) => host.toLowerCase()))});
export default {
  fetch(request) {
    const { host, hostname } = new URL(request.url);
    if (allowed.has(host) || allowed.has(hostname)) return fetch(new Request(request, { redirect: "manual" }));
    const error = allowed.size === 0 ? "network access is disabled" : host + " is not an allowed host";
    return Response.json({ error }, { status: 403 });
  },
};
`;
}

/** Public addresses, and private ones only where they are listed themselves: a name must not lead inside. */
function networks(allowHosts: readonly string[]): string[] {
  const own = allowHosts.flatMap((host) => {
    const name = host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
    if (name === "localhost") return ["127.0.0.1/32", "::1/128"];
    return isIP(name) === 4 ? [`${name}/32`] : isIP(name) === 6 ? [`${name}/128`] : [];
  });
  return ["public", ...own];
}

function quote(text: string): string {
  return JSON.stringify(text);
}
