import * as z from "zod/mini";
import { generateCookie } from "hono/cookie";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { SESSION_COOKIE } from "../http/authenticate.ts";
import { route, type Route } from "../http/route.ts";
import { findRun, getRunSpec, RUNS, type RunDocument } from "../runs/records.ts";
import { readRollouts } from "../runs/rollouts.ts";
import { listCheckpoints } from "../checkpoints/records.ts";
import { page } from "./layout.ts";
import { listPage } from "./list-page.ts";
import { runPage } from "./run-page.ts";

const SHOWN_RUNS = 100;
const SHOWN_ROLLOUTS = 4;

export function pageRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/ui-codes",
      access: "admin",
      summary: "A one-time link that opens a session in a browser",
      body: z.strictObject({ to: z._default(z.string(), "/ui") }),
      response: z.object({ url: z.string() }),
      async handle({ body }) {
        const query = new URLSearchParams({ code: control.sessions.createCode(), to: localPath(body.to) });
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
        const cookie = control.sessions.exchange(query.code);
        if (cookie === undefined) {
          throw new SpotterError("unauthorized", "This link was used before or is too old.", {
            hint: "Run `spotter open` again.",
          });
        }
        const options = { httpOnly: true, sameSite: "Strict", path: "/ui" } as const;
        // A redirect would arrive without a SameSite=Strict cookie when the link was clicked elsewhere.
        const to = localPath(query.to);
        const body = `<p><a href="${to}">Continue</a></p>`;
        const response = page(control, { title: "Spotter", body, goTo: to });
        response.headers.set("set-cookie", generateCookie(SESSION_COOKIE, cookie, options));
        return response;
      },
    }),
    route({
      method: "get",
      path: "/ui",
      access: "page",
      summary: "Page: all runs",
      response: "html",
      async handle() {
        const { items } = await control.store.query<RunDocument>(RUNS, { reverse: true, limit: SHOWN_RUNS });
        await control.routes.load();
        const runs = items.map((item) => item.value.run);
        return listPage(control, runs, control.routes.all());
      },
    }),
    route({
      method: "get",
      path: "/ui/runs/:id",
      access: "page",
      summary: "Page: one run",
      response: "html",
      async handle({ param }) {
        const id = param("id");
        const document = await findRun(control, id);
        if (document === undefined) throw new SpotterError("not_found", `There is no run ${id}.`);
        const [spec, checkpoints, rollouts] = await Promise.all([
          getRunSpec(control, id),
          listCheckpoints(control, id),
          readRollouts(control, id, undefined).catch(noRollouts),
        ]);
        const shown = rollouts && { ...rollouts, rollouts: rollouts.rollouts.slice(0, SHOWN_ROLLOUTS) };
        return runPage(control, { run: document.run, spec, checkpoints, rollouts: shown });
      },
    }),
  ];
}

/** Only paths of our own pages: a link must not lead elsewhere. */
function localPath(to: string): string {
  return /^\/ui(\/[A-Za-z0-9._~/-]*)?$/.test(to) ? to : "/ui";
}

function noRollouts(error: unknown): undefined {
  if (SpotterError.is(error) && error.code === "not_found") return undefined;
  throw error;
}
