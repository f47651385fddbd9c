import { isIP } from "node:net";

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
export function networks(allowHosts: readonly string[]): string[] {
  const own = allowHosts.flatMap((host) => {
    const name = host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
    if (name === "localhost") return ["127.0.0.1/32", "::1/128"];
    return isIP(name) === 4 ? [`${name}/32`] : isIP(name) === 6 ? [`${name}/128`] : [];
  });
  return ["public", ...own];
}
