import type { Control } from "../control.ts";
import { STYLE } from "./style.ts";

export interface PageParams {
  title: string;
  /** HTML. Whatever came from outside must have gone through {@link escape}. */
  body: string;
  status?: number;
  /** Fetches the page again and swaps its content while it is looked at. */
  refreshMs?: number;
  /** Leads on at once. */
  goTo?: string;
}

/** A page that loads nothing from elsewhere and runs no script but the one written here. */
export function page(control: Control, params: PageParams): Response {
  const nonce = control.ids.secret(16);
  const head =
    params.goTo === undefined ? "" : `<meta http-equiv="refresh" content="0;url=${escape(params.goTo)}">`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">${head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(params.title)}</title><style nonce="${nonce}">${STYLE}</style></head>
<body><header><a href="/ui">Spotter</a></header><main>${params.body}</main>
${params.refreshMs === undefined ? "" : `<script nonce="${nonce}">${refreshScript(params.refreshMs)}</script>`}
</body></html>
`;
  return new Response(html, {
    status: params.status ?? 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  });
}

export function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function time(ms: number | undefined): string {
  if (ms === undefined) return "";
  const iso = new Date(ms).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}

function refreshScript(everyMs: number): string {
  return `
const main = document.querySelector("main");
async function refresh() {
  try {
    const response = await fetch(location.href, { cache: "no-store" });
    if (response.ok) {
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      main.replaceChildren(...next.querySelector("main").childNodes);
      if (!next.querySelector("script")) return;
    }
  } catch {}
  setTimeout(refresh, ${everyMs});
}
setTimeout(refresh, ${everyMs});
`;
}
