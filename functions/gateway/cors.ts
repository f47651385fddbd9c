const RATE_LIMITS = ["limit", "remaining", "reset"].flatMap((what) => [
  `x-ratelimit-${what}-requests`,
  `x-ratelimit-${what}-tokens`,
]);
const EXPOSED = [
  ...["x-request-id", "retry-after", "retry-after-ms", "x-should-retry", "openai-processing-ms"],
  ...["x-spotter-queue-ms", "x-spotter-cold-start"],
  ...RATE_LIMITS,
].join(", ");

/** What stock clients send. */
const STAINLESS = [
  ...["Arch", "Custom-Poll-Interval", "Helper-Method", "Lang", "OS", "Package-Version", "Poll-Helper"],
  ...["Raw-Response", "Retry-Count", "Runtime", "Runtime-Version", "Timeout"],
].map((name) => `X-Stainless-${name}`);
const ALLOWED = [
  ...["Authorization", "Content-Type", "X-Request-Id", "OpenAI-Organization", "OpenAI-Project"],
  ...["Idempotency-Key", ...STAINLESS],
].join(", ");

/** A header that a page names itself: nothing but names and commas goes back. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

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
  const isList = askedHeaders !== undefined && HEADER_NAMES.test(askedHeaders);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
      "access-control-allow-headers": isList ? `${ALLOWED}, ${askedHeaders}` : ALLOWED,
      "access-control-max-age": "86400",
    },
  });
}
