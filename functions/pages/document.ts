import { loadAssets } from "./assets.ts";
import { h, type Children } from "./views/h.ts";

export interface DocumentParams {
  title: string;
  body: Children;
  /** Stays as it is below what the script makes live. */
  after?: Children;
  status?: number;
  /** What the script makes live, and of which record. Absent: the page stays as it is. */
  live?: { page: "home" | "run" | "endpoint" | "new-eval"; id?: string };
  /** Leads on at once. */
  goTo?: string;
  /** Loads itself again after so many seconds. */
  refreshSeconds?: number;
}

/** Only our own files and our own routes; nothing inline, nothing framed, no form that leaves the page. */
const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A whole page. Everything in it goes through hono/jsx, which escapes. */
export async function documentResponse(params: DocumentParams): Promise<Response> {
  const { script, style, icon } = await loadAssets();
  const { title, body, live, goTo, refreshSeconds } = params;
  const refresh = goTo === undefined ? refreshSeconds : `0;url=${goTo}`;
  const html = h(
    "html",
    { lang: "en" },
    h(
      "head",
      null,
      h("meta", { charset: "utf-8" }),
      refresh === undefined ? null : h("meta", { "http-equiv": "refresh", content: refresh }),
      h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      h("meta", { name: "color-scheme", content: "light dark" }),
      h("title", null, title),
      h("link", { rel: "icon", href: icon.path, type: "image/svg+xml" }),
      h("link", { rel: "stylesheet", href: style.path }),
      live === undefined ? null : h("script", { type: "module", src: script.path }),
    ),
    h(
      "body",
      null,
      h("a", { class: "skip", href: "#main" }, "Skip to content"),
      h(
        "div",
        { class: "bar" },
        h(
          "nav",
          { "aria-label": "Main" },
          h("a", { href: "/ui", class: "brand" }, "Spotter"),
          crumb(live),
          h("a", { href: "/ui/evals" }, "Evals"),
        ),
        live === undefined ? null : h("p", { id: "connection", class: "mute", role: "status" }),
      ),
      h(
        "main",
        { id: "main", tabindex: "-1", ...(live && { "data-page": live.page, "data-id": live.id ?? "" }) },
        h("div", { id: "live" }, body),
        params.after,
      ),
    ),
  );
  return new Response(`<!doctype html>\n${await html.toString()}\n`, {
    status: params.status ?? 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": SECURITY_POLICY,
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  });
}

function crumb(live: DocumentParams["live"]): Children {
  if (live === undefined || live.page === "home" || live.page === "new-eval") return null;
  return h(
    "a",
    { href: live.page === "run" ? "/ui#runs" : "/ui#endpoints" },
    live.page === "run" ? "Runs" : "Endpoints",
  );
}
