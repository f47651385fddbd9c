const EXPOSED = "x-request-id, retry-after, x-should-retry";
const ALWAYS_ALLOWED = "Authorization, Content-Type, X-Request-Id, OpenAI-Organization, OpenAI-Project";

/**
 * Any page may call `/v1`: what protects it is the Bearer key, which a page has to be given. Cookies do not
 * count there, so there is nothing for a foreign page to borrow.
 */
export function allowBrowsers(headers: Headers): void {
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED);
}

/** The answer to a preflight. `*` would not cover Authorization (Fetch standard), so headers are listed. */
export function preflight(askedHeaders: string | undefined): Response {
  const allowed = askedHeaders === undefined ? ALWAYS_ALLOWED : `${ALWAYS_ALLOWED}, ${askedHeaders}`;
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, OPTIONS",
      "access-control-allow-headers": allowed,
      "access-control-max-age": "86400",
    },
  });
}
