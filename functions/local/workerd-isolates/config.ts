import { BUNDLE_MODULE, COMPATIBILITY_DATE } from "../../isolate-host/main-module.ts";
import { networks } from "../../isolate-host/outbound.ts";

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

function quote(text: string): string {
  return JSON.stringify(text);
}
