import * as z from "zod/mini";
import { generateCookie } from "hono/cookie";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { SESSION_COOKIE } from "../http/authenticate.ts";
import { route, type Route } from "../http/route.ts";
import { pageDataRoutes } from "./data-routes.ts";

/** The pages. What renders them is loaded with the first page: scripts and containers never need it. */
export function pageRoutes(control: Control): Route[] {
  return [...signInRoutes(control), ...documentRoutes(control), assetRoute(), ...pageDataRoutes(control)];
}

function signInRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/ui-codes",
      access: "admin",
      summary: "A one-time link that opens a session in a browser",
      body: z.strictObject({ to: z._default(z.string(), "/ui") }),
      response: z.object({ url: z.string() }),
      async handle({ body }) {
        const query = new URLSearchParams({
          code: await control.sessions.createCode(),
          to: localPath(body.to),
        });
        return { url: `${control.config.publicUrl()}/ui/open?${query.toString()}` };
      },
    }),
    route({
      method: "get",
      path: "/ui/open",
      access: "open",
      summary: "Exchange a one-time code for the session cookie",
      query: z.object({ code: z.string(), to: z._default(z.string(), "/ui") }),
      response: "html",
      async handle({ query }) {
        const cookie = await control.sessions.exchange(query.code);
        if (cookie === undefined) {
          throw new SpotterError("unauthorized", "This link was used before or is too old.", {
            hint: "Run `spotter open` again.",
          });
        }
        const { openedPage } = await import("./pages.ts");
        // A redirect would arrive without a SameSite=Strict cookie when the link was clicked elsewhere.
        const response = await openedPage(localPath(query.to));
        const secure = new URL(control.config.publicUrl()).protocol === "https:";
        const options = { httpOnly: true, sameSite: "Strict", path: "/ui", secure } as const;
        response.headers.set("set-cookie", generateCookie(SESSION_COOKIE, cookie, options));
        return response;
      },
    }),
    route({
      method: "get",
      path: "/",
      access: "open",
      summary: "Leads to the pages",
      response: "html",
      handle: async () => new Response(null, { status: 302, headers: { location: "/ui" } }),
    }),
  ];
}

function documentRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/ui",
      access: "page",
      summary: "Page: all runs and endpoints",
      response: "html",
      handle: async () => (await import("./pages.ts")).homePage(control),
    }),
    route({
      method: "get",
      path: "/ui/runs/:id",
      access: "page",
      summary: "Page: one run",
      response: "html",
      handle: async ({ param }) => (await import("./pages.ts")).runPage(control, param("id")),
    }),
    route({
      method: "get",
      path: "/ui/endpoints/:name",
      access: "page",
      summary: "Page: one endpoint, with a chat",
      response: "html",
      handle: async ({ param }) => (await import("./pages.ts")).endpointPage(control, param("name")),
    }),
    route({
      method: "get",
      path: "/ui/evals",
      access: "page",
      summary: "Page: all evals with their ids",
      query: z.object({ after: z.optional(z.string()) }),
      response: "html",
      handle: async ({ query }) => (await import("./eval-pages.ts")).evalsPage(control, query.after),
    }),
    route({
      method: "get",
      path: "/ui/evals/new",
      access: "page",
      summary: "Page: the form that launches an eval",
      query: z.object({ from: z.optional(z.string()) }),
      response: "html",
      handle: async ({ query }) => (await import("./eval-pages.ts")).newEvalPage(control, query.from),
    }),
    route({
      method: "get",
      path: "/ui/evals/:id",
      access: "page",
      summary: "Page: one eval, with its rows",
      query: z.object({ after: z._default(z.coerce.number().check(z.int(), z.gte(0)), 0) }),
      response: "html",
      handle: async ({ param, query }) =>
        (await import("./eval-pages.ts")).evalPage(control, param("id"), query.after),
    }),
  ];
}

function assetRoute(): Route {
  return route({
    method: "get",
    path: "/ui/assets/:hash/:name",
    access: "open",
    summary: "The script, the stylesheet and the icon of the pages",
    response: "bytes",
    async handle({ c }) {
      const { loadAssets } = await import("./assets.ts");
      const { script, style, icon } = await loadAssets();
      const found = [script, style, icon].find(({ path }) => path === c.req.path);
      if (found === undefined)
        throw new SpotterError("not_found", "There is no such file.", { hint: "Load the page again." });
      return new Response(found.content, {
        headers: {
          "content-type": found.type,
          "cache-control": "public, max-age=31536000, immutable",
          "cross-origin-resource-policy": "same-origin",
          "x-content-type-options": "nosniff",
        },
      });
    },
  });
}

/** Only paths of our own pages: a link must not lead elsewhere. */
function localPath(to: string): string {
  return /^\/ui(\/[A-Za-z0-9._~/-]*)?$/.test(to) ? to : "/ui";
}
