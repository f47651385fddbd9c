import type { AllowedHosts } from "./allowed-hosts.ts";

const MAX_REDIRECTS = 20;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `fetch` that answers 403 where user code may not go, as workerd's outbound worker does, redirects included. */
export function guardedFetch(hosts: AllowedHosts, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    let request = new Request(input, init);
    for (let hops = 0; ; hops++) {
      const { host, hostname, protocol } = new URL(request.url);
      const error = protocol.startsWith("http") ? hosts.refusal(host, hostname) : `${protocol} is refused`;
      if (error !== undefined) return Response.json({ error }, { status: 403 });
      // Kept for a redirect that has to send it again.
      const again = request.redirect === "follow" ? request.clone() : undefined;
      const response = await fetch(new Request(request, { redirect: "manual" }));
      const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
      if (location === null || request.redirect === "manual") return response;
      if (again === undefined) throw new TypeError("fetch failed: unexpected redirect");
      if (hops === MAX_REDIRECTS) throw new TypeError("fetch failed: too many redirects");
      await response.body?.cancel();
      request = redirected(again, new URL(location, request.url), response.status);
    }
  };
}

function redirected(request: Request, target: URL, status: number): Request {
  const { method } = request;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  const headers = new Headers(request.headers);
  if (target.origin !== new URL(request.url).origin) {
    for (const name of ["authorization", "cookie", "proxy-authorization"]) headers.delete(name);
  }
  if (!becomesGet) return new Request(target, new Request(request, { headers }));
  for (const name of ["content-length", "content-type", "content-encoding"]) headers.delete(name);
  return new Request(target, { headers, signal: request.signal });
}
